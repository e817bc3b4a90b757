import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { within } from '../../fixtures/within.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { programIn } from '../../cli/program.ts'

const DEBUGGER = /Debugger listening/

test('without a terminal, SIGHUP, SIGUSR1 and SIGUSR2 neither end nor debug the service', async (t) => {
  const served = await programIn(t).serve()
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGHUP'] as const) {
    const seen = served.stdout().split(`ignored ${signal}`).length
    served.kill(signal)
    await eventually(async () => served.stdout().split(`ignored ${signal}`).length > seen)
    assert.equal((await ask(served.port, { path: '/health' })).status, 200)
  }
  served.kill('SIGTERM')
  const { code, stderr } = await served.ended
  assert.equal(code, 0)
  assert.doesNotMatch(stderr, DEBUGGER)
})

test('SIGHUP ends a service whose log is on a terminal', async (t) => {
  const served = await programIn(t).serve({ preload: 'process.stdout.isTTY = true' })
  served.kill('SIGHUP')
  const { code, stdout } = await served.ended
  assert.equal(code, 0)
  assert.match(stdout, /closing: SIGHUP/)
})

test('npm start passes on SIGTERM, and SIGUSR1 starts no debugger', async (t) => {
  const npm = await startBy(t, ['npm', 'start'])
  const [pid] = npm.services()
  process.kill(pid!, 'SIGUSR1')
  assert.equal((await ask(npm.port, { path: '/health' })).status, 200)
  npm.child.kill('SIGTERM')
  const [code] = await npm.ended
  assert.equal(code, 0)
  await eventually(async () => npm.log().includes('"msg":"closed"'))
  assert.doesNotMatch(npm.output(), DEBUGGER)
  assert.deepEqual(npm.services(), [])
  await assert.rejects(ask(npm.port, { path: '/health' }), /ECONNREFUSED/)
})

test('npx server-listing serve leaves no process behind after SIGTERM', async (t) => {
  const npx = await startBy(t, ['npx', 'server-listing', 'serve'])
  assert.equal(npx.services().length, 1)
  npx.child.kill('SIGTERM')
  await within('the end of npx', npx.ended)
  await eventually(async () => npx.services().length === 0)
  await eventually(async () => npx.log().includes('"msg":"closed"'))
  await assert.rejects(ask(npx.port, { path: '/health' }), /ECONNREFUSED/)
})

test('below npx, one SIGTERM for the whole group of processes lets the service drain', async (t) => {
  const npx = await startBy(t, ['npx', 'server-listing', 'serve'], { DRAIN_SECONDS: '2' })
  process.kill(-npx.child.pid!, 'SIGTERM')
  await eventually(async () => npx.services().length === 0)
  await eventually(async () => npx.log().includes('"msg":"closed"'))
  assert.doesNotMatch(npx.log(), /second signal/)
})

test('npm run demo passes on SIGTERM and deletes its database', async (t) => {
  const folder = temporaryFolder(t)
  const child = spawn('npm', ['run', 'demo'], {
    cwd: ROOT,
    env: { PATH: searchPath(), HOME: folder, TMPDIR: folder },
  })
  const demos = () =>
    processesWith(`TMPDIR=${folder}`).filter((pid) =>
      read(String(pid), 'cmdline').endsWith('demo/run.ts\0'),
    )
  t.after(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    for (const pid of demos()) process.kill(pid, 'SIGKILL')
  })
  const ended = once(child, 'exit')
  const output = outputOf(child)
  await eventually(async () => /Press Ctrl-C/.test(output()))
  child.kill('SIGTERM')
  await within('the end of npm', ended)
  await eventually(async () => demos().length === 0)
  const databases = readdirSync(folder).filter((name) => name.startsWith('server-listing-demo-'))
  assert.deepEqual(databases, [])
})

test('SIGHUP does not end a service below npx', async (t) => {
  const npx = await startBy(t, ['npx', 'server-listing', 'serve'])
  const [pid] = npx.services()
  const shell = Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  process.kill(pid!, 'SIGHUP')
  await eventually(async () => npx.log().includes('ignored SIGHUP'))
  process.kill(shell, 'SIGHUP')
  await within('the end of npx', npx.ended)
  // Twice the time in which the service notices a new parent.
  for (let asked = 0; asked < 10; asked += 1) {
    assert.equal((await ask(npx.port, { path: '/health' })).status, 200)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
})

/** Starts the service through npm or npx in this directory and waits until it listens. */
async function startBy(t: TestContext, [program = '', ...args]: string[], env = {}) {
  const folder = temporaryFolder(t)
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: 'pipe',
    // A group of its own.
    detached: true,
    env: {
      PATH: searchPath(),
      HOME: folder,
      DATABASE_URL: `sqlite:${join(folder, 'listing.db')}`,
      PORT: '0',
      DASHBOARD_PORT: '0',
      OPS_PORT: '0',
      ...env,
    },
  })
  const services = () => processesWith(join(folder, 'listing.db')).filter(isService)
  t.after(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    for (const pid of services()) process.kill(pid, 'SIGKILL')
  })
  const ended = once(child, 'exit')
  const output = outputOf(child)
  const port = () => Number(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output())?.[1])
  await eventually(async () => port() > 0)
  const log = () => output().replaceAll(/^[^{].*\n?/gm, '')
  return { child, ended, output, log, port: port(), services }
}

/** Makes npm and npx find the Node.js of the tests. */
function searchPath(): string {
  return [dirname(process.execPath), process.env.PATH].join(delimiter)
}

function outputOf(child: ChildProcess): () => string {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  return () => output
}

/** The processes whose environment contains this text. */
function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && read(name, 'environ').includes(text))
    .map(Number)
}

function isService(pid: number): boolean {
  const [program = '', ...rest] = read(String(pid), 'cmdline').split('\0')
  return program.endsWith('node') && rest.some((word) => /server-listing(\.js)?$/.test(word))
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    // The process has ended or belongs to another user.
    return ''
  }
}
