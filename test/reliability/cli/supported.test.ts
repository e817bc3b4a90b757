import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../../fixtures/tree.ts'

const WAY = 'install Node.js 24.16 or newer, or run the image (docs/packages.md)'

/** What a process has of another runtime, and its first line. Null: it runs. */
const RUNTIMES: [name: string, platform: string, versions: object, says: string | null][] = [
  ['the oldest Node.js', 'linux', { node: '24.16.0' }, null],
  ['a newer Node.js on macOS', 'darwin', { node: '26.0.0' }, null],
  [
    'Node.js 24.15',
    'linux',
    { node: '24.15.9' },
    `server-listing needs Node.js 24.16 or newer, and this is 24.15.9: ${WAY}.`,
  ],
  [
    'Node.js 22',
    'linux',
    { node: '22.30.1' },
    `server-listing needs Node.js 24.16 or newer, and this is 22.30.1: ${WAY}.`,
  ],
  ['Bun', 'linux', { bun: '1.4.5' }, `server-listing runs on Node.js, and this is Bun: ${WAY}.`],
  ['Deno', 'win32', { deno: '2.9' }, `server-listing runs on Node.js, and this is Deno: ${WAY}.`],
  [
    'Node.js on Windows',
    'win32',
    {},
    'server-listing does not run on Windows: use WSL, or run the image (docs/packages.md).',
  ],
]

/** Runs a program in a process that takes itself for another one. */
function run(program: string, args: readonly string[], platform: string, versions: object) {
  const all = { ...process.versions, ...versions }
  const code = `
    Object.defineProperty(process, 'platform', { value: '${platform}' })
    Object.defineProperty(process, 'versions', { value: ${JSON.stringify(all)} })`
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
  }
  const { status, stderr } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8', env })
  return { status, stderr }
}

for (const [name, platform, versions, says] of RUNTIMES)
  test(`${name}: the command and the scripts ${says === null ? 'run' : 'say why not'}`, () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const [node, ...script] = scripts.settings.split(' ') as [string, ...string[]]
    const expected = says === null ? { status: 0, stderr: '' } : { status: 2, stderr: `${says}\n` }
    const program = join(ROOT, 'bin/server-listing.js')
    assert.deepEqual(run(program, ['--version'], platform, versions), expected)
    assert.deepEqual(run(node, script, platform, versions), expected)
  })

test('Windows: the end of `npm ci` says why not', () => {
  const [name, platform, versions, says] = RUNTIMES.at(-1)!
  assert.equal(name, 'Node.js on Windows')
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const [node, ...script] = scripts.prepare.split(' ') as [string, ...string[]]
  assert.deepEqual(run(node, script, platform, versions), { status: 2, stderr: `${says}\n` })
})
