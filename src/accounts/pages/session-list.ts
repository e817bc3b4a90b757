import type { AccountsDashboard } from './sign-in/attempts.ts'
import { signedOutPath } from './sign-in/sign-in.ts'
import { html } from 'hono/html'
import { DAY_US, type Instant } from '../../model/instant.ts'
import { ACTIVITY_STEP_US, SESSION_LENGTH_US, type StoredSession } from '../sessions.ts'
import {
  actorOf,
  type App,
  type Context,
  cookieOf,
  fieldOf,
  withCookies,
} from '../../web/context.ts'
import { agoInWords, showAgo } from '../../web/html/relative-time.ts'
import type { Html } from '../../web/html/text.ts'
import { bestEffort } from '../../web/request/best-effort.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { sessionList, sessions } from '../records/sessions.ts'

/** Ends one of the user's sessions, or all of them. */
export function addSessionListRoute(app: App, dashboard: AccountsDashboard): void {
  const { database, accounts } = dashboard

  app.post('/dashboard/account/sessions', async (c) => {
    const { id: ownId, userId } = c.get('session')
    const ended = fieldOf(c, 'session')
    if (ended !== '' && ended !== ownId) {
      // Another tab may have ended it before.
      await sessionList(database).endSession(userId, ended, actorOf(dashboard, c))
      tellNext(dashboard, c, 'session-ended')
      return c.redirect('/dashboard/account', 303)
    }
    const actor = actorOf(dashboard, c)
    const path = await signedOutPath(dashboard, c)
    if (ended === '') await sessions(database).endSessions(userId, actor)
    const cookies = await bestEffort(dashboard, () => accounts.signOut(cookieOf(c), actor), [])
    return withCookies(c.redirect(path, 303), cookies)
  })
}

/** The user's sessions, with a button to end each. */
export async function showSessions(
  { database, passwords, now }: AccountsDashboard,
  c: Context,
): Promise<Html> {
  const { id: ownId, userId } = c.get('session')
  const sessions = await sessionList(database).listSessions(userId, now())
  return html`<section class="split" id="sessions"><div><h2>Sessions</h2>
<p class="hint">A session ends ${SESSION_LENGTH_US / DAY_US} days after you sign in. The last activity is exact to the hour. End a session that you don’t recognize${passwords ? ', and change your password' : ''}.</p></div>
<section><form method="post" action="/dashboard/account/sessions">
<ul class="rows">${sessions.map((session, index) => showSession(session, index, session.id === ownId, now()))}</ul>
</form>
<form method="post" action="/dashboard/account/sessions"><button>Sign out everywhere</button></form></section></section>`
}

function showSession(
  { id, userAgent, address, startedAt, lastActiveAt }: StoredSession,
  index: number,
  isOwn: boolean,
  now: Instant,
): Html {
  return html`<li><div><strong id="b${index}">${nameBrowser(userAgent)}</strong>${isOwn ? html` <span class="pill good">This browser</span>` : ''}
<p><code id="f${index}">${address === '' ? 'unknown address' : address}</code> <span>Signed in ${showAgo(startedAt, now)}</span>${isOwn ? '' : html` <span>Active ${activeInWords(lastActiveAt, now)}</span>`}</p></div>
<button class="quiet" name="session" value="${id}" id="e${index}" aria-labelledby="e${index} b${index} f${index}">${isOwn ? 'Sign out' : 'End'}</button></li>`
}

/** No more exact than what is stored. */
function activeInWords(lastActiveAt: Instant, now: Instant): string {
  return now - lastActiveAt < ACTIVITY_STEP_US
    ? 'within the last hour'
    : agoInWords(lastActiveAt, now)
}

/** Browsers and programs, the more specific first: Edge also calls itself Chrome and Safari. */
const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
]

const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** A User-Agent in words, such as "Firefox on Windows". Browsers can claim anything. */
export function nameBrowser(userAgent: string): string {
  const browser = nameOf(BROWSERS, userAgent) ?? 'Unknown browser'
  const system = nameOf(SYSTEMS, userAgent)
  return system === undefined ? browser : `${browser} on ${system}`
}

function nameOf(
  names: readonly (readonly [pattern: RegExp, name: string])[],
  userAgent: string,
): string | undefined {
  return names.find(([pattern]) => pattern.test(userAgent))?.[1]
}
