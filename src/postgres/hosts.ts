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

export function hostsOf(url: string): Hosts {
  const [, scheme = '', credentials = '', list = '', rest = ''] = PARTS.exec(url) ?? []
  const urls = list.split(',').map((host) => `${scheme}${credentials}${host}${rest}`)
  let index = 0
  return {
    current: () => urls[index] ?? '',
    count: urls.length,
    avoid(failed) {
      if (urls[index] !== failed) return
      index = (index + 1) % urls.length
    },
  }
}
