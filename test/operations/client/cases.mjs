import { ServerListingClient } from 'server-listing-client'

/**
 * What the client does in one runtime: against the real service with a key of its own, and against
 * a server with wrong answers. In JavaScript, because not every runtime reads TypeScript.
 */
export async function tryEachCase({ service, key, odd, refused }) {
  const client = new ServerListingClient({ baseUrl: service, apiKey: key })
  const listings = await Promise.all([client.listServers(), client.listServers()])
  const outcomes = { listings: listings.map((servers) => servers.map(({ name }) => name)) }
  for await (const servers of client.watch()) {
    outcomes.watched = servers.length
    break
  }
  const options = { apiKey: key, maxTries: 1 }
  for (const path of ['cut', 'redirect', 'html', 'large', '401', '502'])
    outcomes[path] = await errorOf({ ...options, baseUrl: `${odd}/${path}` })
  for (const path of ['silent', 'slow'])
    outcomes[path] = await errorOf({ ...options, baseUrl: `${odd}/${path}`, timeoutMs: 200 })
  outcomes.refused = await errorOf({ ...options, baseUrl: refused })
  const signal = AbortSignal.timeout(200)
  outcomes.aborted = await errorOf({ ...options, baseUrl: `${odd}/late` }, { signal })
  return outcomes
}

async function errorOf(options, call) {
  try {
    return await new ServerListingClient(options).listServers(call)
  } catch (error) {
    return error.name
  }
}
