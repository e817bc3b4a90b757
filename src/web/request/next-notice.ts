import { type Context, cookieOf, type Dashboard } from '../context.ts'
import type { Notice } from '../html/page.ts'

/*
 * What the next page says after an action. A cookie carries it there once, so that a reload does
 * not repeat it. It has no text, because other programs on this host can set cookies.
 */

const COOKIE = 'notice'
/** Long enough to sign in again before the next page. */
const SECONDS = 600
const VALUE = /(?:^|; )notice=([a-z-]+)\.([0-9a-f-]{0,36})(?:;|$)/

/** Tells the next page about an action. `id` is that of the record that it concerned. */
export function tellNext({ dashboardUrl }: Dashboard, c: Context, outcome: string, id = ''): void {
  setNotice(c, dashboardUrl, `${COOKIE}=${outcome}.${id}; Max-Age=${SECONDS}`)
}

/** Takes what this page has to say, if it is one of these outcomes. */
export function takeTold<Outcome extends string>(
  { dashboardUrl }: Dashboard,
  c: Context,
  outcomes: readonly Outcome[],
): { outcome: Outcome; id: string } | null {
  const [, told, id = ''] = VALUE.exec(cookieOf(c)) ?? []
  const outcome = outcomes.find((one) => one === told)
  if (outcome === undefined) return null
  setNotice(c, dashboardUrl, `${COOKIE}=; Max-Age=0`)
  return { outcome, id }
}

/** The notice of a page whose outcomes have one sentence each. */
export function takeDone(
  dashboard: Dashboard,
  c: Context,
  sentences: Readonly<Record<string, string>>,
): Notice | undefined {
  const told = takeTold(dashboard, c, Object.keys(sentences))
  return told === null ? undefined : { kind: 'good', text: sentences[told.outcome]! }
}

function setNotice(c: Context, dashboardUrl: string, cookie: string): void {
  const secure = dashboardUrl.startsWith('https://') ? '; Secure' : ''
  const line = `${cookie}; Path=/dashboard; HttpOnly; SameSite=Lax${secure}`
  c.header('Set-Cookie', line, { append: true })
}
