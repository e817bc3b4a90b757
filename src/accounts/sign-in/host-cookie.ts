/** A cookie that only this host gets, and no script can read. */
export interface HostCookie {
  /** The values in a request's `Cookie` line, in order. Other ports of the host can set some. */
  read(line: string): string[]
  /** A `Set-Cookie` line with this value. */
  set(value: string): string
  /** A `Set-Cookie` line that removes the cookie. */
  remove(): string
}

/** Under https its `__Host-` prefix keeps other hosts from setting it. */
export function hostCookie(dashboardUrl: string, plainName: string, lengthUs: number): HostCookie {
  const isSecure = dashboardUrl.startsWith('https://')
  const name = isSecure ? `__Host-${plainName}` : plainName
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return {
    read(line) {
      const cookies = line.split(';').map((cookie) => cookie.trim())
      const values = cookies.filter((cookie) => cookie.startsWith(`${name}=`))
      return values.map((cookie) => cookie.slice(name.length + 1))
    },
    set: (value) => `${name}=${value}; Max-Age=${lengthUs / 1_000_000}; ${attributes}`,
    remove: () => `${name}=; Max-Age=0; ${attributes}`,
  }
}
