import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { addAda } from '../../cli/ada.ts'
import { assertRefused, type Commands, commandsIn } from '../../cli/command.ts'

const IMPORT = 'server import --user ada@example.com'

async function withAda(t: TestContext): Promise<Commands> {
  const program = commandsIn(t)
  await addAda(program)
  return program
}

async function listed(program: Commands): Promise<Record<string, string | null>[]> {
  return JSON.parse(await program.done('server list --user ada@example.com --json'))
}

test('a file and standard input import alike, and absent fields get their defaults', async (t) => {
  const program = await withAda(t)
  const full = {
    name: 'Skyblock',
    address: 'sky.example.com:25566',
    slug: 'skyblock',
    edition: 'bedrock',
    status: 'draft',
    version: '1.21.4',
    listing_kind: 'realm',
    updated_at: '2026-01-31T13:00:00.5+01:00',
  }
  const file = join(program.folder, 'servers.json')
  writeFileSync(file, `\uFEFF${JSON.stringify([full])}`)
  const first = await program.run(`${IMPORT} ${file}`)
  assert.deepEqual(
    [first.code, first.stdout, first.stderr],
    [
      0,
      '',
      `imported 1 server for ada@example.com: 1 new, 0 changed, 0 unchanged\n${program.place}`,
    ],
  )
  const stdin = '[{"name":"Survival","address":"play.example.com"}]'
  const second = await program.run(`${IMPORT} -`, { stdin })
  assert.equal(second.stderr, first.stderr)

  const [survival, skyblock] = await listed(program)
  assert.deepEqual(
    { ...survival, id: null, updated_at: null, created_by: null },
    {
      id: null,
      name: 'Survival',
      slug: null,
      address: 'play.example.com',
      edition: 'java',
      status: 'published',
      version: null,
      listing_kind: null,
      organization: null,
      created_by: null,
      email: 'ada@example.com',
      external_id: null,
      updated_at: null,
    },
  )
  assert.deepEqual(skyblock, {
    ...survival,
    ...full,
    id: skyblock?.id,
    organization: null,
    updated_at: '2026-01-31T12:00:00.500000Z',
  })

  const [heads, ...rows] = (await program.done('server list --user ada@example.com')).split('\n')
  assert.match(heads ?? '', /^ID +NAME +ADDRESS +EDITION +STATUS +ORGANIZATION +UPDATED$/)
  assert.match(
    rows[1] ?? '',
    / Skyblock +sky\.example\.com:25566 +bedrock +draft +- +2026-01-31T12:00:00Z$/,
  )
})

test('an entry with a known slug, or else name, address and edition, changes that server and keeps its other fields', async (t) => {
  const program = await withAda(t)
  const add = (entries: object[]) => program.run(`${IMPORT} -`, { stdin: JSON.stringify(entries) })
  await add([
    { name: 'A', address: 'a.example.com', slug: 'a', version: '1.20', status: 'draft' },
    { name: 'B', address: 'b.example.com', edition: 'bedrock', version: '1.19' },
  ])
  const before = await listed(program)
  const { stderr } = await add([
    { name: 'A moved', address: 'new.example.com', slug: 'a' },
    { name: 'B', address: 'b.example.com', edition: 'bedrock', version: null },
    { name: 'C', address: 'c.example.com' },
  ])
  assert.match(stderr, /imported 3 servers for ada@example.com: 1 new, 2 changed, 0 unchanged/)

  const after = await listed(program)
  const named = (list: typeof after, name: string) => list.find((server) => server.name === name)
  assert.deepEqual(named(after, 'A moved'), {
    ...named(before, 'A'),
    name: 'A moved',
    address: 'new.example.com',
    updated_at: named(after, 'A moved')?.updated_at,
  })
  assert.deepEqual(named(after, 'B'), {
    ...named(before, 'B'),
    version: null,
    updated_at: named(after, 'B')?.updated_at,
  })
  assert.equal(after.length, 3)
})

test('invalid entries are named by their number, and nothing is imported', async (t) => {
  const program = await withAda(t)
  const stdin = JSON.stringify([
    { name: 'Good', address: 'good.example.com' },
    { adress: 'x.example.com', name: 'Mistyped' },
    7,
    { name: '', address: 'not an address' },
    { name: 'Late', address: 'late.example.com', updated_at: 'yesterday' },
  ])
  const ended = await program.run(`${IMPORT} -`, { stdin })
  assertRefused(
    ended,
    1,
    'nothing was imported from standard input',
    'entry 2: "address" is missing',
  )
  assertRefused(ended, 1, 'the import ignores "adress"', 'entry 3: must be an object, not 7')
  assertRefused(ended, 1, 'entry 4: "name" is missing', /entry 4: "address" must be.*"not an a/)
  const deep = `[{"name":${'['.repeat(5_000)}${']'.repeat(5_000)},"address":"a.example"}]`
  const nested = await program.run(`${IMPORT} -`, { stdin: deep })
  assertRefused(nested, 1, 'entry 1: "name" must be a string: [[[[')
  assertRefused(ended, 1, /entry 5: "updated_at" must be.*2026-01-31T12:00:00Z.*"yesterday"/)
  assert.doesNotMatch(ended.stderr, /entry 1/)
  assert.deepEqual(await listed(program), [])
})

test('input that is not a list of servers is refused with its name and the reason', async (t) => {
  const program = await withAda(t)
  const from = (stdin: string | Uint8Array) => program.run(`${IMPORT} -`, { stdin })
  const [empty, broken, object, bytes] = await Promise.all(
    ['', '[{', '{}', Buffer.from('5bff5d', 'hex')].map(from),
  )
  assertRefused(empty!, 1, 'standard input is empty', 'JSON array')
  assertRefused(broken!, 1, 'standard input is not JSON')
  assertRefused(object!, 1, 'JSON array')
  assertRefused(bytes!, 1, 'not UTF-8 text')
  assertRefused(await program.run(`${IMPORT} no.json`), 1, '"no.json"', 'it does not exist')
  assertRefused(
    await program.run(`${IMPORT} ${program.folder}`),
    1,
    program.folder,
    'it is a folder',
  )
  assertRefused(
    await program.run([...IMPORT.split(' '), '--organization', 'Red Stone', '-']),
    2,
    '"Red Stone"',
    'red-stone',
  )
  assert.deepEqual(await listed(program), [])
})

test('a long import shows progress on a terminal and none in a pipe', async (t) => {
  const program = await withAda(t)
  const stdin = JSON.stringify(
    Array.from({ length: 4_001 }, (_, n) => ({ name: `${n}`, address: `s${n}.example.com` })),
  )
  const last = 'imported 4,001 servers for ada@example.com'
  const piped = await program.run(`${IMPORT} -`, { stdin })
  assert.equal(piped.stderr, `${last}: 4,001 new, 0 changed, 0 unchanged\n${program.place}`)

  const shown = await program.run(`${IMPORT} -`, { stdin, hasTerminal: true })
  assert.equal(shown.stdout, '')
  // Each line overwrites the one before, and the final message overwrites the last.
  const lines = shown.stderr.replaceAll('\u001b[K', '<').split('\r').slice(1)
  const said = lines.pop()
  const parts = lines.map((line) => /^imported ([\d,]+) of 4,001 servers<$/.exec(line)?.[1])
  assert.ok(parts.length > 1 && parts.every((part) => part !== undefined), shown.stderr)
  assert.equal(parts.at(-1), '4,001')
  assert.equal(said, `<${last}: 0 new, 0 changed, 4,001 unchanged\n${program.place}`)
})
