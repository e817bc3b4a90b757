import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../../fixtures/requests.ts'
import { programIn, type Served } from '../../cli/program.ts'

const FORM = {
  'Content-Type': 'application/x-www-form-urlencoded',
  'Sec-Fetch-Site': 'same-origin',
}

async function linkOf(served: Served): Promise<string> {
  const link = /create the first one at (http:\S+\/setup\/[0-9a-f]{32})/
  await served.written(link)
  return link.exec(served.stdout())?.[1] ?? ''
}

async function submit(link: string, email: string, password: string): Promise<number> {
  const { status } = await fetch(link, {
    method: 'POST',
    headers: FORM,
    body: new URLSearchParams({ email, password }).toString(),
    redirect: 'manual',
  })
  return status
}

test('the setup link has a host that a browser can open, whatever HOST is', async (t) => {
  for (const [host, shown] of [
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '[::1]'],
    ['0', '127.0.0.1'],
  ] as const) {
    const served = await programIn(t).serve({ env: { HOST: host } })
    const link = await linkOf(served)
    assert.equal(new URL(link).hostname, shown)
    const page = await fetch(link)
    assert.equal(page.status, 200)
    assert.match(await page.text(), /Create the first account/)
    assert.equal(/on another machine/.test(served.stdout()), host !== '127.0.0.1')
    served.kill('SIGTERM')
    await served.ended
  }
})

test('the setup link has the host of DASHBOARD_URL', async (t) => {
  const env = { HOST: '0.0.0.0', DASHBOARD_URL: 'http://listing.example.com/' }
  const served = await programIn(t).serve({ env })
  assert.equal(new URL(await linkOf(served)).host, 'listing.example.com')
  assert.doesNotMatch(served.stdout(), /on another machine/)
})

test('the setup link works after user add, and gives that user a password', async (t) => {
  const program = programIn(t)
  const id = await program.done('user add ada@example.com --create')
  await program.done('user add bob@example.com')
  const served = await program.serve()
  const link = await linkOf(served)
  await program.done('user add cyd@example.com')
  assert.equal(await submit(link, 'ada@example.com', 'correct horse battery staple'), 303)

  const users: { id: string; email: string }[] = JSON.parse(await program.done('user list --json'))
  assert.equal(users.length, 3)
  assert.equal(users.find(({ email }) => email === 'ada@example.com')?.id, id)
  assert.equal(await submit(link, 'bob@example.com', 'correct horse battery staple'), 404)
  const signIn = new URL('/sign-in', link).href
  assert.equal(await submit(signIn, 'ada@example.com', 'correct horse battery staple'), 303)
})

test('a password set on the command line ends the setup link for good', async (t) => {
  const program = programIn(t)
  await program.done('user add ada@example.com --create')
  const served = await program.serve()
  const link = await linkOf(served)
  await program.done('user password ada@example.com', { stdin: 'correct horse battery staple' })
  assert.equal((await fetch(link)).status, 404)
  await program.done('user remove ada@example.com --yes')
  assert.equal((await fetch(link)).status, 404)
  assert.equal(await submit(link, 'bob@example.com', 'correct horse battery staple'), 404)

  await program.done('user add bob@example.com --password-stdin', {
    stdin: 'correct horse battery staple',
  })
  served.kill('SIGTERM')
  await served.ended
  const again = await program.serve()
  assert.equal((await ask(again.port, { path: '/health' })).status, 200)
  again.kill('SIGTERM')
  assert.doesNotMatch((await again.ended).stdout, /setup/)
})
