import { checkEmail } from '../model/email.ts'

/** The error of a public URL, in words that follow "must". Null if it is valid. */
export function complaintAboutUrl(text: string): string | null {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return 'begin with http:// or https://'
  const { username, password, search, hash } = new URL(text)
  return username + password + search + hash === ''
    ? null
    : 'have no user, password, query or fragment'
}

/** The same for the dashboard, whose pages link to each other from the root. */
export function complaintAboutDashboardUrl(text: string): string | null {
  const complaint = complaintAboutUrl(text)
  if (complaint !== null || new URL(text).pathname === '/') return complaint
  return 'have no path, because the dashboard needs a host name of its own'
}

const CONTACT_LENGTH_MAX = 100

/** The error of the contact of an operator, in words that follow "must". Null if it is valid. */
export function complaintAboutContact(text: string): string | null {
  if (text.length > CONTACT_LENGTH_MAX) return `have at most ${CONTACT_LENGTH_MAX} characters`
  const [, email] = /^mailto:(.*)$/s.exec(text) ?? []
  // In a mailto: URL, these three characters would end or change the address.
  if (email !== undefined)
    return 'email' in checkEmail(email) && !/[?#%]/.test(email)
      ? null
      : 'have one email address behind mailto:'
  if (!/^https:\/\/[!-~]+$/.test(text) || !URL.canParse(text))
    return 'be mailto: with an email address, or begin with https://'
  const { username, password } = new URL(text)
  return username + password === '' ? null : 'have no user and no password'
}

/**
 * A text for a message, without what can be secret if it is meant as a URL: user and password,
 * query and fragment. Masks up to the last `@`, since a password can have any character by mistake.
 */
export function withoutSecrets(text: string): string {
  return text.replace(/^(.*?(?::\/\/|:)).*@/s, '$1…@').replace(/([?#]).*/s, '$1…')
}

/** Whether others can't read or change what is sent there. */
export function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || isLoopback(hostname)
}

/** Whether a host is this machine. A URL has an IPv6 address in brackets. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host)
}
