import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { median } from '../../bench/rounds.ts'
import { install, pack } from './installed.ts'

/*
 * `npm run startup` packs and installs the package, and prints what it costs to start: the CPU time
 * of `key list`, and the time from the start of `serve` to its first dashboard page. Medians of 21
 * runs. Further tarballs take turns with it: `npm run startup -- before.tgz`.
 */

const RUNS = 21
const DASHBOARD = /dashboard at (http:[^"\s]+)/

interface Figures {
  /** User and system time in milliseconds. */
  cpu: number[]
  announced: number[]
  page: number[]
}

const folder = mkdtempSync(join(tmpdir(), 'server-listing-startup-'))
const env = {
  PATH: process.env.PATH,
  DATABASE_URL: `sqlite:${join(folder, 'listing.db')}`,
  PORT: '0',
  DASHBOARD_PORT: '0',
  OPS_PORT: '0',
  XDG_CACHE_HOME: join(folder, 'cache'),
}
try {
  mkdirSync(env.XDG_CACHE_HOME, { mode: 0o700 })
  const tarballs = [pack(folder), ...process.argv.slice(2)]
  const commands = tarballs.map((path, index) => install(path, join(folder, `${index}`)))
  for (const args of [['migrate'], ['user', 'add', 'ada@example.com']])
    execFileSync(commands[0]!, args, { env, stdio: 'pipe' })
  await measure(tarballs, commands)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measure(tarballs: readonly string[], commands: readonly string[]): Promise<void> {
  const empty: number[] = []
  const figures = commands.map((): Figures => ({ cpu: [], announced: [], page: [] }))
  // The first round fills the caches of compiled code.
  for (let run = -1; run < RUNS; run += 1) {
    const idle = cpuOf([process.execPath, '-e', '0'])
    if (run >= 0) empty.push(idle)
    for (const [index, command] of commands.entries()) {
      const cpu = cpuOf([command, 'key', 'list', '--user', 'ada@example.com'])
      const { announced, page } = await firstPage(command)
      if (run < 0) continue
      const { [index]: of } = figures
      of!.cpu.push(cpu)
      of!.announced.push(announced)
      of!.page.push(page)
    }
  }
  console.log(
    `CPU of \`node -e 0\`: ${median(empty).toFixed(1)} ms; load ${loadavg()[0]!.toFixed(1)}`,
  )
  for (const [index, { cpu, announced, page }] of figures.entries())
    console.log(
      `${tarballs[index]}: \`key list\` takes ${median(cpu).toFixed(1)} ms of CPU; \`serve\` listens after ` +
        `${median(announced).toFixed(1)} ms, and its first page comes ${median(page).toFixed(1)} ms later`,
    )
}

/** Runs a command, which must succeed. The shell's own share is the same for every command. */
function cpuOf(command: readonly string[]): number {
  const timed = ['--norc', '-c', 'TIMEFORMAT="%3U %3S"; time "$@" > /dev/null', 'bash', ...command]
  const { status, stderr } = spawnSync('bash', timed, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const [user, system] = stderr.trim().split(/\s/).slice(-2)
  return (Number(user) + Number(system)) * 1_000
}

/** From the start of the process to its announcement, and from there to the page. */
async function firstPage(command: string): Promise<{ announced: number; page: number }> {
  const start = performance.now()
  const service = spawn(command, ['serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(service, 'exit')
  let log = ''
  for await (const chunk of service.stdout
    .setEncoding('utf8')
    .iterator({ destroyOnReturn: false })) {
    log += chunk
    if (DASHBOARD.test(log)) break
  }
  const listening = performance.now()
  const [, url = ''] = DASHBOARD.exec(log) ?? []
  const body = await bodyOf(`${url}/sign-in`)
  const end = performance.now()
  if (!body.includes('</html>')) throw new Error(`no page: ${body}`)
  service.stdout.resume()
  service.kill('SIGTERM')
  await ended
  return { announced: listening - start, page: end - listening }
}

async function bodyOf(url: string): Promise<string> {
  const [response] = await once(get(url), 'response')
  return text(response)
}
