// Prints the listing every two seconds: node poll.ts [COUNT]
// BASE_URL is the address of the API, SERVER_LISTING_KEY an API key.

interface Server {
  id: string
  name: string
  slug: string | null
  address: string
  edition: string
  status: string
  version: string | null
  listing_kind: string | null
}

const ATTEMPTS_MAX = 5
const WAIT_MAX_SECONDS = 30
const TRANSIENT = [408, 429, 502, 503]

const url = `${(process.env.BASE_URL ?? '').trim().replace(/\/+$/, '')}/v1/servers`
const key = (process.env.SERVER_LISTING_KEY ?? '').trim()
// Checked here, because fetch prints a header that it refuses.
if (!/^svc_live_[0-9a-f]{64}$/.test(key)) {
  console.error('SERVER_LISTING_KEY must be svc_live_ and 64 hexadecimal digits')
  process.exit(2)
}

/** Asks until the list comes, at most ATTEMPTS_MAX times. */
async function loadServers(): Promise<Server[]> {
  for (let attempt = 0; ; attempt += 1) {
    const isLast = attempt === ATTEMPTS_MAX - 1
    let retryAfter = 0
    try {
      const answer = await fetch(url, {
        headers: { Authorization: `Bearer ${key}` },
        signal: AbortSignal.timeout(10_000),
      })
      if (answer.ok) return ((await answer.json()) as { servers: Server[] }).servers
      if (isLast || !TRANSIENT.includes(answer.status))
        throw new Refused(`The API answered ${answer.status}`)
      retryAfter = Number(answer.headers.get('Retry-After')) || 0
    } catch (error) {
      // Any other error means: no connection, or none in time.
      if (isLast || error instanceof Refused) throw error
    }
    // 1, 2, 4 … seconds, and never less than Retry-After.
    await sleep(Math.max(retryAfter, Math.min(2 ** attempt, WAIT_MAX_SECONDS)))
  }
}

class Refused extends Error {}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000))
}

for (let left = Number(process.argv[2] ?? -1); left !== 0; left -= 1) {
  for (const server of await loadServers()) console.log(server.name, server.address)
  if (left !== 1) await sleep(2)
}
