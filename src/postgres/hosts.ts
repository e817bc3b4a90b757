/** The servers of one DATABASE_URL, of which one at a time is the primary. */
export interface Hosts {
  /** The URL of the host that is to be tried next. */
  current(): string
  count: number
  /** Moves on from a host that failed, unless somebody else has done so. */
  avoid(url: string): void
}

// scheme, credentials, hosts, the rest: the hosts are a list, which makes the whole no URL to a URL parser.
const PARTS = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#]*)(.*)$/i
type Parts = [url: string, scheme: string, credentials: string, list: string, rest: string]

export function hostsOf(url: string): Hosts {
  const [, scheme, credentials, list, rest] = PARTS.exec(url) as unknown as Parts
  const urls = list
    .split(',')
    .map((host) => `${scheme}${credentials}${host}${rest}`)
    .flatMap(readingsOf)
  let index = 0
  return {
    current: () => urls[index]!,
    count: urls.length,
    avoid(failed) {
      if (urls[index] !== failed) return
      index = (index + 1) % urls.length
    },
  }
}

/**
 * The driver is told that `sslmode` means what it means everywhere else; left to itself it takes them all for
 * `verify-full`. And `prefer`, which it does not know, is first one mode and then the other.
 */
function readingsOf(url: string): string[] {
  const mode = /[?&]sslmode=([^&]*)/.exec(url)?.[1]
  if (mode === undefined) return [url]
  const modes = mode === 'prefer' ? ['require', 'disable'] : [mode]
  return modes.map((mode) =>
    `${url}&uselibpqcompat=true`.replace(/([?&]sslmode=)[^&]*/, `$1${mode}`),
  )
}
