import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sayLeftOut } from '../../../src/servers/file/records.ts'
import { readServers } from '../../../src/servers/file/server-file.ts'

/*
 * Files as spreadsheets, databases and other programs write them.
 */

test('columns without a name are left out if they are empty', async () => {
  const read = await good(
    'name,address,,edition,,\r\nLagoon,play.example,,java,,\r\nReef,r.example,,,\r\n',
  )
  assert.deepEqual(read.entries, [
    { name: 'Lagoon', address: 'play.example', edition: 'java' },
    { name: 'Reef', address: 'r.example' },
  ])
  assert.deepEqual(await wrongOf('name,address,\r\nA,a.example,\r\nB,b.example,note\r\n'), [
    'row 3: "note" stands in column 3, which has no name',
  ])
})

test('blank first lines are rows, and the line sep=; is none', async () => {
  for (const text of ['sep=;\r\nname;address\r\nA;a,b\r\n', 'SEP=,\nname,address\nA,"a,b"\n'])
    assert.match((await wrongOf(text))[0]!, /^row 2: "address" must be a domain .*: "a,b"$/)
  for (const blank of ['\r\n\r\n', ';;\n\n', '\n \n'])
    assert.match(
      (await wrongOf(`${blank}name;address\nA;a b`))[0]!,
      /^row 4: "address" must be a domain/,
    )
  assert.deepEqual((await good('sep=;\nname;address')).rows, 0)
})

test('CSV without a needed column is told which one is missing, and which name looks like it', async () => {
  for (const [text, complaint] of [
    [
      'port,name,desc\n1,a,b',
      'no column "address". An import joins "port" to the address. Its first row has "port", "name", "desc"',
    ],
    [
      'Title;IP;Host\na;b;c',
      'no column "name" and no column "address". Rename "title" to "name". Rename "ip" or "host" to "address"',
    ],
    ['hostname,name\na,b', 'no column "address". Rename "hostname" to "address"'],
    ['Name;Adresse\na;b', 'no column "address". Its first row has "name", "adresse"'],
    ['name\na', 'no column "address". Its first row has "name"'],
  ])
    assert.deepEqual(await readServers(text!), { complaint: `is CSV, but has ${complaint}` })
  for (const text of ['Hello', '<title>name, address</title>'])
    assert.match(await complaintOf(text), /^is neither JSON nor CSV/)
})

test('a port is joined to the address, in CSV and in JSON', async () => {
  const csv = await good(
    'name,address,port\nA,a.example,25566\nB,b.example:1,1\nC,[::1],19132\nD,d.example,\n',
  )
  assert.deepEqual(
    csv.entries.map(({ address }) => address),
    ['a.example:25566', 'b.example:1', '[::1]:19132', 'd.example'],
  )
  const json = await good('[{"name":"A","address":"a.example","port":19132}]')
  assert.deepEqual(json.entries, [{ name: 'A', address: 'a.example:19132' }])
  assert.deepEqual(
    (
      await wrongOf(
        'name,address,port\nA,a.example,0\nB,b.example:1,2\nC,2001:db8::1,3\nD,d.example,x\nE,e.example,65536\n',
      )
    ).map((line) => line.slice(0, 66)),
    [
      'row 2: "port" must be a number from 1 to 65535: "0"',
      'row 3: "port" is 2, but "address" is "b.example:1". Leave one of t',
      'row 4: "address" must have brackets around an IPv6 address, such a',
      'row 5: "port" must be a number from 1 to 65535: "x"',
      'row 6: "port" must be a number from 1 to 65535: "65536"',
    ],
  )
})

const LISTED = { id: '1', name: 'A', slug: null, address: 'a.example', edition: 'java' }

test("the API's answer is a list of servers, and its ids are ignored", async () => {
  const read = await good(JSON.stringify({ servers: [LISTED] }))
  const { id: _, ...entry } = LISTED
  assert.deepEqual(
    [{ ...read.entries[0] }, read.leftOut],
    [entry, { ignored: ['id'], elsewhere: 0, shortened: 0 }],
  )
  assert.equal(sayLeftOut(read.leftOut, null), 'the import ignores "id"')
})

test('columns and fields of other programs are ignored by name', async () => {
  const csv = await good('Name,address,Notes,motd,motd\nA,a.example,of Ada,,x\n')
  assert.deepEqual(csv.entries, [{ name: 'A', address: 'a.example' }])
  assert.equal(sayLeftOut(csv.leftOut, null), 'the import ignores "notes", "motd"')
  const long = 'a\u202e'.repeat(5_000)
  const names = [long, ...Array.from({ length: 30 }, (_, index) => `extra${index}`)]
  const entry = { ...Object.fromEntries(names.map((name) => [name, 1])), ...LISTED }
  const json = await good(JSON.stringify([entry, entry]))
  assert.equal(json.entries.length, 2)
  const said = sayLeftOut(json.leftOut, null)!
  assert.match(said, /^the import ignores "(a\\u\{202e\}){8}a\\u\{…, "extra0", .*"extra8", …$/)
})

test('the output of server list is a list of servers of one user and one place', async () => {
  const mine = { ...LISTED, organization: null, created_by: 'ada', email: 'ada@example.com' }
  const ours = { ...mine, name: 'B', organization: 'guild' }
  const text = JSON.stringify([mine, ours])
  const personal = await good(text)
  assert.deepEqual([personal.entries.map(({ name }) => name), personal.rows], [['A'], 2])
  assert.equal(
    sayLeftOut(personal.leftOut, null),
    'the import ignores "id", "created_by", "email" and leaves out 1 server under organizations',
  )
  const guild = await readServers(text, { organization: 'guild' })
  assert.ok('entries' in guild)
  assert.deepEqual([guild.places, guild.leftOut.elsewhere], [['entry 2'], 1])
  assert.match(sayLeftOut(guild.leftOut, 'guild')!, /leaves out 1 server outside guild$/)
  const csv = await readServers('name,address,organization\nA,a,\nB,b,guild\n', {
    organization: 'guild',
  })
  assert.ok('entries' in csv)
  assert.deepEqual([csv.places, csv.leftOut.elsewhere], [['row 3'], 1])
  const others = JSON.stringify([mine, { ...mine, created_by: 'bob' }])
  assert.match(await complaintOf(others), /^has servers of several users/)
  assert.match(
    (await wrongOf(JSON.stringify([{ ...mine, organization: 5 }])))[0]!,
    /"organization" must be/,
  )
})

test('a cell of megabytes gets a sentence', async () => {
  const quotes = '"'.repeat(8_000_000)
  const open = 'has a cell in row 2 that begins with " and does not end'
  for (const [cell, complaint] of [
    [`"${'a'.repeat(8_000_000)}`, open],
    [quotes, `${open} within 16,384 characters`],
    [`${quotes}"`, `${open} within 16,384 characters`],
    [`"${'😀'.repeat(1_000_000)}"`, `${open} within 16,384 characters`],
    ['a'.repeat(8_000_000), 'has more than 16,384 characters in row 2'],
  ])
    assert.equal(await complaintOf(`name,address\n${cell},a.example`), complaint)
})

test('a complaint about a first row of many columns names the first twenty', async () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `c${at}`)
  const complaint = await complaintOf(`name,${names.join()}\n`)
  assert.match(complaint, /no column "address"\. Its first row has "name", "c0", .*, "c18", …$/)
})

async function good(text: string) {
  const read = await readServers(text)
  assert.ok('entries' in read, JSON.stringify(read))
  assert.deepEqual(read.wrong, [])
  return read
}

async function wrongOf(text: string): Promise<string[]> {
  const read = await readServers(text)
  assert.ok('wrong' in read, JSON.stringify(read))
  return read.wrong.map(({ place, message }) => `${place}: ${message}`)
}

async function complaintOf(text: string): Promise<string> {
  const read = await readServers(text)
  assert.ok('complaint' in read, JSON.stringify(read).slice(0, 500))
  return read.complaint
}
