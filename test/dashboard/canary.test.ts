import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { programIn } from '../cli/program.ts'
import { PASSWORD } from '../fixtures/dashboard.ts'
import { personAt } from '../fixtures/person.ts'
import { ask } from '../fixtures/requests.ts'

test('no log and no file contains a key or password that went through the dashboard', async (t) => {
  const program = programIn(t)
  const served = await program.serve({ env: { LOG_LEVEL: 'debug', SIGN_UP: 'open' } })
  await served.written(/dashboard at/)
  const port = Number(/dashboard at http:\/\/127\.0\.0\.1:(\d+)/.exec(served.stdout())?.[1])
  const person = personAt(port)
  await person.post('/sign-up', { email: 'ada@example.com', password: PASSWORD })
  const key = await person.issue('bot')
  assert.equal((await ask(served.port, { key })).status, 200)
  await person.get(`/dashboard/servers?q=${key}`)
  await person.get(`/dashboard/api/${key}/delete`)
  await person.post(`/dashboard/servers/${key}`, { name: key })
  await person.post('/dashboard/api', { form: key, name: '' })
  await person.post('/dashboard/api/leaked', { leaked: `x ${key} y` })
  assert.equal((await ask(served.port, { key })).status, 401)
  served.kill('SIGTERM')
  const { stdout, stderr } = await served.ended

  const digits = key.slice('svc_live_'.length)
  const needles = [
    ...Array.from({ length: 50 }, (_, at) => digits.slice(at + 7, at + 19)).filter(
      ({ length }) => length === 12,
    ),
    Buffer.from(digits, 'hex').toString('latin1'),
    PASSWORD,
  ]
  const texts = new Map([
    ['standard output', stdout],
    ['standard error', stderr],
  ])
  for (const entry of readdirSync(program.folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile())
      texts.set(entry.name, readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  assert.ok([...texts.keys()].some((name) => name.startsWith('listing.db')))
  for (const [where, text] of texts)
    for (const needle of needles) assert.ok(!text.includes(needle), `${where} has ${needle}`)
})
