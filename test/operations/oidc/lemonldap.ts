import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freeFixedPort, startDaemon } from '../../fixtures/daemon/daemon.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import type { ProviderBrowser } from '../../fixtures/oidc/browser.ts'
import type { SiteProvider } from '../../fixtures/oidc/site.ts'
import { personAt } from '../../fixtures/person.ts'
import { CLIENT, writeConfiguration } from './configuration.ts'

/** Debian's LemonLDAP::NG as an identity provider, with its demonstration users. */
export interface Lemonldap extends SiteProvider {
  browser(): LemonldapBrowser
}

/** Agrees that the client may have the claims. */
export interface LemonldapBrowser extends ProviderBrowser {
  /** How often the provider has asked this browser for a password. */
  asked: number
}

/** Debian's own program of the portal. Apache, nginx and plackup can all run it. */
const PORTAL = '/usr/share/lemonldap-ng/portal/htdocs/index.psgi'

/** Starts a provider that ends with the test. `redirectUri` is that of its only client. */
export async function startLemonldap(
  t: TestContext,
  redirectUri = 'http://127.0.0.1:8081/sign-in/oidc/callback',
): Promise<Lemonldap> {
  const folder = temporaryFolder(t)
  const port = await freeFixedPort()
  const issuer = `http://127.0.0.1:${port}/`
  const file = writeConfiguration(folder, issuer, redirectUri)
  const log = join(folder, 'output')
  const listen = ['--server', 'HTTP::Server::PSGI', '--host', '127.0.0.1', '--port', `${port}`]
  const args = ['--env', 'deployment', '--no-default-middleware', ...listen, PORTAL]
  const env = { PATH: process.env.PATH, LLNG_DEFAULTCONFFILE: file }
  await startDaemon(t, '/usr/bin/plackup', args, { port, log, env })
  // A portal that can't use its configuration listens, and answers each request with 500.
  const described = await fetch(`${issuer}.well-known/openid-configuration`)
  assert.equal(described.status, 200, readFileSync(log, 'utf8'))
  return { issuer, client: CLIENT, browser: () => browserAt(issuer, port) }
}

function browserAt(issuer: string, port: number): LemonldapBrowser {
  const person = personAt(port)
  const browser: LemonldapBrowser = {
    asked: 0,

    async visit(url, name) {
      let at = url
      let answer = await person.get(pathOf(at))
      for (let step = 0; step < 10; step += 1) {
        const { location } = answer.headers
        if (location !== undefined) {
          at = new URL(location, at).href
          if (!at.startsWith(issuer)) return pathOf(at)
          answer = await person.get(pathOf(at))
        } else {
          const { action, fields } = readForm(answer.body)
          // The password of each demonstration user is the user's name.
          const isPassword = 'password' in fields
          if (isPassword) browser.asked += 1
          at = new URL(action, at).href
          const filled = isPassword ? { ...fields, user: name, password: name } : fields
          answer = await person.post(pathOf(at), filled, { Origin: new URL(issuer).origin })
        }
      }
      throw new Error(`no way back from LemonLDAP::NG: ${at} ${answer.body}`)
    },
  }
  return browser
}

/** The only form of a page: for a password, for consent, or to go on to the former. */
function readForm(page: string): { action: string; fields: Record<string, string> } {
  const [, tag = '', body = ''] = /<form([^>]*)>(.*?)<\/form>/s.exec(page) ?? []
  assert.ok(tag !== '', `the page has no form: ${page}`)
  const inputs = Array.from(body.matchAll(/<input[^>]*>/g), ([input]) => ({
    name: attribute(input, 'name'),
    value: attribute(input, 'value'),
  }))
  const fields = inputs.filter(({ name }) => name !== '').map(({ name, value }) => [name, value])
  const action = attribute(tag, 'action')
  // The page's script would replace "#" with nothing.
  return { action: action === '#' ? '' : action, fields: Object.fromEntries(fields) }
}

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
  return value.replaceAll('&amp;', '&')
}

function pathOf(url: string): string {
  return url.slice(new URL(url).origin.length)
}
