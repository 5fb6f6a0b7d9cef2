-- Sends a file's lines as queries, one after another, starting at a given line. wrk … -s load.lua
-- URL -- FILE START BEFORE AFTER KEYS [tagged] Each line is put between BEFORE and AFTER; the
-- comma-separated keys are used in turn. In a tagged file, each line is followed by a tab and an
-- entity tag.

local function encode(text)
  return (text:gsub("[^%w%-%._~ ]", function(c) return string.format("%%%02X", c:byte()) end):gsub(" ", "+"))
end

local requests, at

function init(arguments)
  local file, start, before, after, list, tagged = unpack(arguments)
  requests = {}
  local keys = {}
  for key in list:gmatch("[^,]+") do keys[#keys + 1] = key end
  for line in io.lines(file) do
    local text, tag = line:match("^([^\t]*)\t(.*)$")
    local headers = {}
    if #keys > 0 then headers["Authorization"] = "Bearer " .. keys[#requests % #keys + 1] end
    if tagged then headers["If-None-Match"] = tag end
    requests[#requests + 1] = wrk.format("GET", before .. encode(text or line) .. after, headers)
  end
  at = tonumber(start) % #requests
end

function request()
  at = at % #requests + 1
  return requests[at]
end
