import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { programIn } from '../../cli/program.ts'
import { CLIENT, startProvider } from '../../fixtures/oidc/provider.ts'
import { personAt } from '../../fixtures/person.ts'

test('no log, database or archive has a code, token or secret of a sign-in', async (t) => {
  const provider = await startProvider(t)
  const secrets = new Set([CLIENT.secret])
  let [isBroken, isWrong] = [false, false]
  provider.after = (context) => {
    const body = context.body as Record<string, string> | undefined
    if (context.path !== '/token') return
    for (const name of ['access_token', 'id_token']) if (body?.[name]) secrets.add(body[name])
    if (isBroken) context.status = 500
    if (isWrong) Object.assign(body ?? {}, { id_token: 'a.b.c' })
  }
  const program = programIn(t)
  const file = join(program.folder, 'oidc-secret')
  writeFileSync(file, CLIENT.secret)
  const served = await program.serve({
    env: {
      LOG_LEVEL: 'debug',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET_FILE: file,
      OIDC_SIGN_UP: 'open',
    },
  })
  await served.written(/dashboard at/)
  const url = /dashboard at (http:\/\/127\.0\.0\.1:\d+)/.exec(served.stdout())?.[1] ?? ''
  provider.redirectTo(`${url}/sign-in/oidc/callback`)

  const visit = async (name: string) => {
    const person = personAt(Number(new URL(url).port))
    const left = await person.get('/sign-in/oidc')
    const cookie = /oidc=([\w-]+)/.exec(person.cookie())?.[1] ?? ''
    const flow = JSON.parse(Buffer.from(cookie, 'base64url').toString())
    for (const one of [cookie, flow.state, flow.nonce, flow.verifier]) secrets.add(one)
    const back = await provider.browser().visit(String(left.headers.location), name)
    secrets.add(new URLSearchParams(back.split('?')[1]).get('code') ?? cookie)
    return { person, back }
  }
  const good = await visit('ada')
  assert.equal((await good.person.get(good.back)).status, 303)
  secrets.add(/session=([\w-]+)/.exec(good.person.cookie())?.[1] ?? '')
  assert.equal((await good.person.get(good.back)).status, 400)
  isBroken = true
  const broken = await visit('max')
  assert.equal((await broken.person.get(broken.back)).status, 503)
  isBroken = false
  isWrong = true
  const wrong = await visit('max')
  assert.equal((await wrong.person.get(wrong.back)).status, 503)
  const typed = wrong.back.replace(/code=[^&]+/, 'error=invalid_client')
  assert.equal((await wrong.person.copy().get(typed)).status, 403)
  await provider.stop()
  assert.equal((await wrong.person.get(wrong.back)).status, 503)

  await program.done(['backup', join(program.folder, 'archive.db')])
  served.kill('SIGTERM')
  const { stdout, stderr } = await served.ended
  const texts = new Map([
    ['standard output', stdout],
    ['standard error', stderr],
  ])
  for (const entry of readdirSync(program.folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && entry.name !== 'oidc-secret')
      texts.set(entry.name, readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  assert.ok(texts.has('archive.db') && texts.has('listing.db'), [...texts.keys()].join(' '))
  assert.match(stdout, /"level":"error",[^\n]*cannot sign users in with http:/)
  assert.match(stdout, /"level":"warn",[^\n]*"fault":"SignInError"[^\n]*the error invalid_client/)
  assert.ok(secrets.size > 15 && !secrets.has(''))
  for (const [where, text] of texts)
    for (const secret of secrets) assert.ok(!text.includes(secret), `${where} has ${secret}`)
})
