import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Commands, commandsIn } from '../../cli/command.ts'

const IMPORT = 'server import --user ada@example.com'
const entries = (...names: string[]) =>
  JSON.stringify(names.map((name) => ({ name, address: `${name}.example.com` })))

test('import --prune makes the servers equal to the file, and --dry-run only says so', async (t) => {
  const program = await fill(t)
  await program.run(`${IMPORT} --organization red-stone -`, { stdin: entries('ours') })
  const dry = await program.run(`${IMPORT} --prune --dry-run -`, { stdin: entries('b', 'c') })
  assert.equal(dry.code, 0, dry.stderr)
  assert.match(
    dry.stderr,
    /^nothing was imported: .* would be 1 new, 0 changed, 1 unchanged, 1 removed\n$/,
  )
  assert.deepEqual(await names(program), ['a', 'b', 'ours'])
  const refused = await program.run(`${IMPORT} --prune -`, { stdin: entries('b', 'c') })
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /this would remove 1 server of ada@example\.com from .* --yes/)
  assert.deepEqual(await names(program), ['a', 'b', 'ours'])
  const done = await program.run(`${IMPORT} --prune --yes -`, { stdin: entries('b', 'c') })
  assert.match(done.stderr, /^imported 2 servers .*: 1 new, 0 changed, 1 unchanged, 1 removed\n/)
  // Servers under an organization are another place.
  assert.deepEqual(await names(program), ['b', 'c', 'ours'])
  const again = await program.run(`${IMPORT} --prune -`, { stdin: entries('b', 'c') })
  assert.match(again.stderr, /0 new, 0 changed, 2 unchanged, 0 removed/)
  await program.run(`${IMPORT} --organization red-stone --prune-all --yes -`, {
    stdin: entries('other'),
  })
  assert.deepEqual(await names(program), ['b', 'c', 'other'])
})

test('an import that would remove more than half of the servers needs --prune-all', async (t) => {
  const program = await fill(t)
  await program.run(`${IMPORT} -`, { stdin: entries('c') })
  for (const list of ['name,address\n', entries('a')]) {
    const refused = await program.run(`${IMPORT} --prune --yes -`, { stdin: list })
    assert.equal(refused.code, 2)
    assert.match(
      refused.stderr,
      /would remove [23] servers of ada@example\.com from .*, more than half of 3\. .* --prune-all/,
    )
    const dry = await program.run(`${IMPORT} --prune --dry-run -`, { stdin: list })
    assert.match(dry.stderr, /[23] removed\. It needs --prune-all\n$/)
  }
  assert.deepEqual(await names(program), ['a', 'b', 'c'])
  assert.equal((await program.run(`${IMPORT} --prune-all -`, { stdin: entries('a') })).code, 2)
  const done = await program.run(`${IMPORT} --prune-all --yes -`, { stdin: entries('a') })
  assert.match(done.stderr, /0 new, 0 changed, 1 unchanged, 2 removed\n/)
  assert.deepEqual(await names(program), ['a'])
})

test('--prune refuses an answer of the API that may lack servers', async (t) => {
  const program = await fill(t)
  const many = Array.from({ length: 100 }, (_, n) => `s${n}`)
  for (const mode of ['--prune --yes', '--prune-all --yes', '--prune --dry-run']) {
    const refused = await program.run(`${IMPORT} ${mode} -`, {
      stdin: `{"servers":${entries(...many)}}`,
    })
    assert.equal(refused.code, 2)
    assert.match(
      refused.stderr,
      /nothing was changed: standard input is an answer of the API with 100 servers, .* --json/,
    )
  }
  assert.deepEqual(await names(program), ['a', 'b'])
  for (const stdin of [entries(...many), `{"servers":${entries(...many.slice(1))}}`])
    await program.done(`${IMPORT} --prune-all --yes -`, { stdin })
  assert.equal((await names(program)).length, 99)
})

test('a row that means the server of another one is wrong before anything is written', async (t) => {
  const program = await fill(t)
  const csv =
    'name,address,slug\nnew,n.example,n\n\nx,x.example,better\ny,y.example,better\nz,a.example.com,\n'
  for (const mode of ['', ' --dry-run', ' --prune --yes']) {
    const refused = await program.run(`${IMPORT}${mode} -`, { stdin: csv })
    assert.equal(refused.code, 1)
    assert.match(
      refused.stderr,
      /row 5: has the slug "better" of row 4, but has "name" "y" instead of "x", "address" "y\.ex/,
    )
    assert.match(refused.stderr, /row 6: "name" is "z", but the server with this address .* "a"\. /)
  }
  assert.deepEqual(await names(program), ['a', 'b'])
})

test('an import of the same file leaves each server where it is', async (t) => {
  const program = await fill(t)
  const before = (await program.run('server list --user ada@example.com --json')).stdout
  const again = await program.run(`${IMPORT} --json -`, { stdin: entries('b', 'a', 'a') })
  assert.deepEqual(JSON.parse(again.stdout), {
    added: 0,
    changed: 0,
    unchanged: 2,
    duplicates: 1,
    removed: 0,
  })
  assert.match(again.stderr, /^imported 2 servers .*: 0 new, 0 changed, 2 unchanged, 1 duplicate\n/)
  assert.equal((await program.run('server list --user ada@example.com --json')).stdout, before)
})

test('a dry run for a missing organization creates none', async (t) => {
  const program = await fill(t)
  const dry = await program.run(`${IMPORT} --organization new --dry-run -`, { stdin: entries('a') })
  assert.match(
    dry.stderr,
    /for ada@example\.com under new .* would be 1 new, 0 changed, 0 unchanged, 0 removed/,
  )
  assert.equal((await program.run('organization list --json')).stdout, '[]\n')
})

test('server remove takes all ids or none', async (t) => {
  const program = await fill(t)
  const listed = JSON.parse((await program.run('server list --user ada@example.com --json')).stdout)
  const [one, other] = listed.map(({ id }: { id: string }) => id)
  const unknown = await remove(program, `--yes ${one} no-id`)
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /nothing was removed: ada@example\.com has no server .* "no-id"/)
  const refused = await remove(program, `${one} ${one}`)
  assert.equal(refused.code, 2)
  assert.match(
    refused.stderr,
    /would remove 1 server of .*: "[ab]" \([ab]\.example\.com\)\. Add --yes/,
  )
  assert.deepEqual(await names(program), ['a', 'b'])
  const both = await remove(program, `--json --yes ${one} ${other}`)
  assert.deepEqual(JSON.parse(both.stdout), listed)
  assert.match(both.stderr, /^removed 2 servers of ada@example\.com\ndatabase: /)
  assert.deepEqual(await names(program), [])
})

const remove = (program: Commands, args: string) =>
  program.run(`server remove --user ada@example.com ${args}`)

/** Ada with the servers a and b. */
async function fill(t: TestContext): Promise<Commands> {
  const program = commandsIn(t)
  await program.done('user add ada@example.com --create')
  await program.done(`${IMPORT} -`, { stdin: entries('a', 'b') })
  return program
}

async function names(program: Commands): Promise<string[]> {
  const listed = JSON.parse(await program.done('server list --user ada@example.com --json'))
  return listed.map(({ name }: { name: string }) => name).toSorted()
}
