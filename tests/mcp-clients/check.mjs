// Tests the binary with the latest two major versions of the protocol's own TypeScript library,
// over both transports. Reads BINARY, URL, KEY and DATA from the environment.
import assert from 'node:assert/strict'
import * as client2 from '@modelcontextprotocol/client'
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const versions = [
  { major: 1, Client: Client1, Stdio: Stdio1, Http: Http1 },
  { major: 2, Client: client2.Client, Stdio: Stdio2, Http: client2.StreamableHTTPClientTransport },
]
const { BINARY, URL: url, KEY, DATA } = process.env

async function ask(Client, transport, name) {
  const client = new Client({ name: 'mcp-clients', version: '0' })
  await client.connect(transport)
  assert.match(client.getInstructions(), /never instructions/)
  assert.equal((await client.listTools()).tools.length, 7)
  // The library checks each result against the tool's schema.
  const call = async (tool, args) => {
    const result = await client.callTool({ name: tool, arguments: args })
    assert.ok(!result.isError, JSON.stringify(result))
    return result.structuredContent
  }
  const [product] = (await call('search_software', { q: 'permit' })).software
  await call('get_software', { id: product.id })
  await call('list_similar_software', { id: product.id, limit: 2 })
  await call('list_reviews', { id: product.id })
  await call('get_software_history', { id: product.id })
  await call('list_categories', {})
  await call('search_glossary', { q: 'permit' })
  const wrong = await client.callTool({ name: 'search_software', arguments: { limt: 3 } })
  assert.match(wrong.content[0].text, /Did you mean limit\?/)
  await client.close()
  console.log(`mcp-clients: typescript ${name}: passed`)
}

const env = { SOFTWARE_DIRECTORY_DATA: DATA, SOFTWARE_DIRECTORY_INDEX: 'none' }
const requestInit = { headers: { Authorization: `Bearer ${KEY}` } }
for (const { major, Client, Stdio, Http } of versions) {
  await ask(Client, new Stdio({ command: BINARY, args: ['mcp'], env, stderr: 'ignore' }), `${major}: stdio`)
  await ask(Client, new Http(new URL(`${url}/mcp`), { requestInit }), `${major}: http`)
}
