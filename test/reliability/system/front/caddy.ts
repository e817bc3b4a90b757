import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endDaemon } from '../../../fixtures/daemon/daemon.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { CERTIFICATE, configured, freePort, KEY, type StartFront, start } from './fronts.ts'

/** Caddy with `deploy/Caddyfile` and a certificate of the tests. */
export const startCaddy: StartFront = async (t, servicePort, dashboardPort = 1) => {
  const folder = temporaryFolder(t)
  const port = await freePort()
  const config = configured('deploy/Caddyfile', {
    '127.0.0.1:8080': `127.0.0.1:${servicePort}`,
    '127.0.0.1:8081': `127.0.0.1:${dashboardPort}`,
    // It obtains no certificate, so it adds none of its own to those that the machine trusts.
    'servers {': 'debug\nadmin off\nauto_https off\ndefault_bind 127.0.0.1\nservers {',
    'api.example.com, https:// {': `https://localhost:${port}, https://:${port} {
      tls ${CERTIFICATE} ${KEY}`,
    'listing.example.com {': `https://listing.example.com:${port} {
      tls ${CERTIFICATE} ${KEY}`,
  })
  writeFileSync(join(folder, 'Caddyfile'), config)
  const log = join(folder, 'log')
  const args = ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
  // It writes its state there.
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = await start(t, port, '/usr/bin/caddy', args, openSync(log, 'w'), env)
  return {
    port,
    isItsOwn: isPageOfGo,
    async end() {
      await endDaemon(child, 'SIGTERM')
      return readFileSync(log, 'utf8').match(/"msg":"upstream roundtrip"/g)?.length ?? 0
    },
  }
}

/** Go's HTTP server gives these answers before it asks Caddy. */
const isPageOfGo: Awaited<ReturnType<StartFront>>['isItsOwn'] = ({ status, headers, body }) => {
  if (headers['content-type'] === 'text/plain; charset=utf-8')
    return [400, 431, 501, 505].includes(status)
  // The last ones are OPTIONS * and a method of more than 32 letters.
  return body === '' && [200, 405, 417].includes(status) && !('content-type' in headers)
}
