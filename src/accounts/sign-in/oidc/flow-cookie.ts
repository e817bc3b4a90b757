import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Instant, MINUTE_US } from '../../../model/instant.ts'
import { hostCookie } from '../host-cookie.ts'

/** Why the browser goes to the identity provider. */
export type Purpose = 'sign-in' | 'connect' | 'confirm'

/** What the browser keeps while it is at the identity provider. */
export interface Flow {
  purpose: Purpose
  /** The id of the session that connects or confirms. Null for a sign-in. */
  sessionId: string | null
  state: string
  nonce: string
  /** The secret of PKCE. */
  verifier: string
  startedAt: Instant
  /** The page to open afterwards. */
  next: string
}

/** How long a user can take at the identity provider. */
export const FLOW_LENGTH_US = 10 * MINUTE_US

/**
 * The cookie of a sign-in under way. It binds the provider's answer to this browser, and any
 * process can finish what another one began. Its code proves that the service wrote it: else a
 * browser could make a connection of a confirmation.
 */
export function flowCookie(dashboardUrl: string, clientSecret: string) {
  const cookie = hostCookie(dashboardUrl, 'oidc', FLOW_LENGTH_US)
  // All processes have this secret. An ID token that it signs has no `=` there.
  const codeOf = (text: string) =>
    createHmac('sha256', clientSecret).update(`flow=${text}`).digest()
  const textOf = (value: string): string | null => {
    const [text = '', sent = ''] = value.split('.')
    const [code, given] = [codeOf(text), Buffer.from(sent, 'base64url')]
    return given.length === code.length && timingSafeEqual(given, code) ? text : null
  }
  return {
    read(line: string): Flow | null {
      const text =
        cookie
          .read(line)
          .map(textOf)
          .find((one) => one !== null) ?? null
      if (text === null) return null
      return JSON.parse(Buffer.from(text, 'base64url').toString()) as Flow
    },
    set(flow: Flow): string {
      const text = Buffer.from(JSON.stringify(flow)).toString('base64url')
      return cookie.set(`${text}.${codeOf(text).toString('base64url')}`)
    },
    remove: cookie.remove,
  }
}
