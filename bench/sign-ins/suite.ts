import { join } from 'node:path'
import { freePort } from '../../test/fixtures/free-port.ts'
import { CLIENT } from '../../test/fixtures/oidc/provider.ts'
import { cpuSecondsOf } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { askAtRate, type Keys, openKeys, type Scene, SERVERS_PER_OWNER } from '../scene.ts'
import { keysOf, seedSqlite } from '../seed.ts'
import { type Subject, startServe, startSubject } from '../subject.ts'
import type { Result } from '../table.ts'
import type { SignedIn, SignIns } from './browsers.ts'

const CLAIMS_PER_SECOND = 500
const SIGN_INS_PER_SECOND = 50
/** Each key is used once in 20 seconds. */
const KEYS = 10_000
const UNCOUNTED_SECONDS = 2
/** How long before the claims the sign-ins begin. */
const LEAD_SECONDS = 1
/** How long the generator of claims takes until it can begin. */
const START_MS = 1_500
/** Limit of rounds, as a multiple of the wanted number. */
const TRIES = 2

/** A service whose users sign in by a provider of their own. */
interface Site {
  scene: Scene
  service: Subject
  keys: Keys
  provider: Subject
  browsers: Subject
  nextSignIn: number
}

/** What claims wait beside sign-ins by OpenID Connect, on SQLite. */
export async function measureSignIns(scene: Scene): Promise<Result[]> {
  const [site, other] = [await openSite(scene, 'service'), await openSite(scene, 'other')]
  const rate = Math.min(await findRate(site), await findRate(other))
  const isLess = rate < SIGN_INS_PER_SECOND
  if (isLess) console.log(`this machine can't hold ${SIGN_INS_PER_SECOND} sign-ins per second now`)
  const rounds = await measureRounds(site, other, rate)
  const errors = Math.max(...rounds.map((round) => round.errors))
  return [
    ['p99 of claims, with sign-ins / without', medianOf(rounds, 'with / without'), '≤ 1.25'],
    [
      'p99 of claims, with sign-ins / with those at another',
      medianOf(rounds, 'with / at other'),
      '≤ 1.25',
    ],
    ['complete sign-ins per second', medianOf(rounds, 'sign-ins/s'), '≥ 49 /s'],
    ['claims and sign-ins that failed, in the worst round', errors, '≤ 0'],
  ]
}

async function openSite(scene: Scene, name: string): Promise<Site> {
  const file = join(scene.folder, `${name}.db`)
  await seedSqlite(file, KEYS, SERVERS_PER_OWNER)
  const dashboardPort = await freePort()
  const redirectUri = `http://127.0.0.1:${dashboardPort}/sign-in/oidc/callback`
  const program = join(import.meta.dirname, 'provider-main.ts')
  const args = [process.execPath, program, redirectUri] as const
  const provider = await startSubject(scene.children, `provider of ${name}`, args)
  const issuer = `http://127.0.0.1:${provider.port}`
  const service = await startServe(scene.children, name, `sqlite:${file}`, undefined, {
    DASHBOARD_PORT: String(dashboardPort),
    TRUSTED_PROXIES: '127.0.0.1',
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_SIGN_UP: 'open',
  })
  const browsers = await startSubject(scene.children, `browsers of ${name}`, [
    process.execPath,
    join(import.meta.dirname, 'browsers-main.ts'),
    String(dashboardPort),
    issuer,
  ])
  const keys = openKeys(scene, name, keysOf(KEYS))
  return { scene, service, keys, provider, browsers, nextSignIn: 0 }
}

/** Claims alone, beside sign-ins to another service on this machine, and beside sign-ins. */
function measureRounds(site: Site, other: Site, rate: number) {
  return runRounds({
    title: `${CLAIMS_PER_SECOND} claims per second, beside ${rate} sign-ins per second at another service and here, in ms`,
    count: site.scene.settings.rounds,
    tries: TRIES,
    async measure() {
      const alone = await claimBeside(site, null)
      const atOther = await claimBeside(site, { at: other, rate })
      const beside = await claimBeside(site, { at: site, rate })
      const { signedIn } = beside
      const perSignIn = (name: 'ofService' | 'ofOthers') =>
        (1_000 * (beside[name] - alone[name])) / signedIn.complete
      return {
        'p50 without': alone.p50,
        'p99 without': alone.p99,
        'p50 at other': atOther.p50,
        'p99 at other': atOther.p99,
        p50: beside.p50,
        p99: beside.p99,
        'with / without': beside.p99 / alone.p99,
        'with / at other': beside.p99 / atOther.p99,
        'sign-ins/s': signedIn.perSecond,
        'their p99': signedIn.p99,
        'CPU of each': perSignIn('ofService'),
        elsewhere: perSignIn('ofOthers'),
        errors: alone.errors + atOther.errors + beside.errors,
      }
    },
  })
}

/**
 * The rate of sign-ins that the machine can hold, at most SIGN_INS_PER_SECOND. Also makes V8
 * compile the programs. Each person gets an account, as most people who sign in have one.
 */
async function findRate(site: Site): Promise<number> {
  const { warmUpSeconds } = site.scene.settings
  const { signedIn } = await claimBeside(
    site,
    { at: site, rate: SIGN_INS_PER_SECOND },
    warmUpSeconds,
  )
  const { perSecond } = signedIn
  if (perSecond >= SIGN_INS_PER_SECOND * 0.98) return SIGN_INS_PER_SECOND
  return Math.max(1, Math.floor(perSecond * 0.9))
}

/** Sends claims, and sign-ins to a site from a little earlier on. */
async function claimBeside(
  site: Site,
  signIns: { at: Site; rate: number } | null,
  uncountedSeconds = UNCOUNTED_SECONDS,
) {
  const { scene, service, keys, provider, browsers } = site
  const readCpu = () => {
    const [ofService = 0, ...others] = [service, provider, browsers].map(({ pid }) =>
      cpuSecondsOf(pid),
    )
    return { ofService, ofOthers: others[0]! + others[1]! }
  }
  const before = readCpu()
  const startsAt = Date.now() + START_MS
  const seconds = uncountedSeconds + scene.settings.seconds
  const signingIn =
    signIns && signIn(signIns.at, { rate: signIns.rate, startsAt, seconds, uncountedSeconds })
  const claiming = askAtRate(scene, service, keys, {
    rate: CLAIMS_PER_SECOND,
    seconds,
    uncountedSeconds,
    startsAt: startsAt + LEAD_SECONDS * 1_000,
  })
  const [signedIn, { p50, p99, other, unanswered }] = await Promise.all([signingIn, claiming])
  if (signedIn?.failure) console.log(`a sign-in failed: ${signedIn.failure.slice(0, 500)}`)
  const { ofService, ofOthers } = readCpu()
  return {
    p50,
    p99,
    errors: other + unanswered + (signedIn?.failed ?? 0),
    signedIn: signedIn ?? { perSecond: 0, p99: 0, complete: 0 },
    ofService: ofService - before.ofService,
    ofOthers: ofOthers - before.ofOthers,
  }
}

async function signIn(site: Site, load: Omit<SignIns, 'from'>): Promise<SignedIn> {
  const seconds = LEAD_SECONDS + load.seconds
  const uncountedSeconds = LEAD_SECONDS + load.uncountedSeconds
  const all: SignIns = { ...load, from: site.nextSignIn, seconds, uncountedSeconds }
  site.nextSignIn += Math.ceil(load.rate * seconds)
  const body = JSON.stringify(all)
  const answer = await fetch(`http://127.0.0.1:${site.browsers.port}`, { method: 'POST', body })
  return (await answer.json()) as SignedIn
}
