import { ServerListingClient } from 'server-listing-client'
import { tryEachCase } from './cases.mjs'

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url)
    const given = await request.json()
    if (pathname === '/cases') return Response.json(await tryEachCase(given))
    // A client for each request, as workers usually have.
    const client = new ServerListingClient({ baseUrl: given.service, apiKey: given.key })
    return Response.json(await client.listServers())
  },
}
