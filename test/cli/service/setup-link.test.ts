import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownUrlOf } from '../../../src/config/config.ts'
import { personAt } from '../../fixtures/person.ts'
import { ask } from '../../fixtures/requests.ts'
import { programIn, type Served } from '../program.ts'

async function linkOf(served: Served): Promise<string> {
  const link = /create the first one at (http:\S+\/setup\/[0-9a-f]{32})/
  await served.written(link)
  return link.exec(served.stdout())?.[1] ?? ''
}

test('the setup link has a host that a browser can open, whatever HOST is', async (t) => {
  for (const [host, shown] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::', '[::1]'],
    ['0', '127.0.0.1'],
  ] as const)
    assert.equal(new URL(ownUrlOf(host, 80)).hostname, shown)
  const served = await programIn(t).serve({ env: { HOST: '0.0.0.0' } })
  const link = await linkOf(served)
  assert.equal(new URL(link).hostname, '127.0.0.1')
  assert.match(served.stdout(), /on another machine, replace 127\.0\.0\.1 with/)
  const page = await fetch(link)
  assert.equal(page.status, 200)
  assert.match(await page.text(), /Create the first account/)
})

test('the setup link has the host of DASHBOARD_URL', async (t) => {
  const env = { HOST: '0.0.0.0', DASHBOARD_URL: 'http://listing.example.com/' }
  const served = await programIn(t).serve({ env })
  assert.equal(new URL(await linkOf(served)).host, 'listing.example.com')
  assert.doesNotMatch(served.stdout(), /on another machine/)
})

test('no setup link is printed once a user has a password, and an earlier one ends', async (t) => {
  const program = programIn(t)
  await program.done('user add ada@example.com --create')
  const served = await program.serve()
  const link = await linkOf(served)
  await program.done('user password ada@example.com', { stdin: 'correct horse battery staple' })
  assert.equal((await fetch(link)).status, 404)
  served.kill('SIGTERM')
  await served.ended

  const again = await program.serve()
  assert.equal((await ask(again.port, { path: '/health' })).status, 200)
  again.kill('SIGTERM')
  assert.doesNotMatch((await again.ended).stdout, /setup/)
})

test('with links alone, `user link` lets the first operator in', async (t) => {
  const program = programIn(t)
  const email = 'ops@example.com'
  const env = { PASSWORDS: 'off', OPERATORS: email }
  const served = await program.serve({ env })
  await served.written(
    /users sign in by links alone: `server-listing user link` makes the first one/,
  )
  const url = /dashboard at (http:[^"]+)/.exec(served.stdout())![1]!
  await program.done(`user add ${email}`)
  const made = await program.done(`user link ${email}`, { env: { ...env, DASHBOARD_URL: url } })
  const ops = personAt(Number(new URL(url).port))
  await ops.submit(new URL(made.trim()).pathname)
  assert.match((await ops.get('/dashboard/operator')).body, /<h1>Operator/)
  assert.doesNotMatch(served.stdout(), /setup/)
})
