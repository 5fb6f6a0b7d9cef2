-- Asks the lines of a file one after another, from a place in it on.
--   wrk … -s load.lua URL -- FILE START BEFORE AFTER KEY [tagged]
-- A line is put between BEFORE and AFTER; in a tagged file an entity tag follows it behind a tab.

local function encode(text)
  return (text:gsub("[^%w%-%._~ ]", function(c) return string.format("%%%02X", c:byte()) end):gsub(" ", "+"))
end

local requests, at

function init(arguments)
  local file, start, before, after, key, tagged = unpack(arguments)
  requests = {}
  for line in io.lines(file) do
    local text, tag = line:match("^([^\t]*)\t(.*)$")
    local headers = { ["Authorization"] = "Bearer " .. key }
    if tagged then headers["If-None-Match"] = tag end
    requests[#requests + 1] = wrk.format("GET", before .. encode(text or line) .. after, headers)
  end
  at = tonumber(start) % #requests
end

function request()
  at = at % #requests + 1
  return requests[at]
end
