import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { endDaemon, untilListening } from '../../../fixtures/daemon/daemon.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { ROOT } from '../../../fixtures/tree.ts'
import type { RawAnswer } from '../../../wire/client/read-answer.ts'
import { once } from '../../../fixtures/within.ts'

/** A proxy with HTTPS in front of a service, started with its configuration of `deploy/`. */
export interface Front {
  port: number
  /** True for an error page of the proxy that its configuration cannot change. */
  isItsOwn(answer: RawAnswer): boolean
  /** Stops it gracefully and returns the number of requests that it passed on, from its log. */
  end(): Promise<number>
}

/**
 * `dashboardPort` may be left out if the test asks only for the API. `places` are further texts of
 * the configuration to replace.
 */
export type StartFront = (
  t: TestContext,
  servicePort: number,
  dashboardPort?: number,
  places?: Record<string, string>,
) => Promise<Front>

export const CERTIFICATE = join(ROOT, 'test/fixtures/tls/localhost.crt')
export const KEY = join(ROOT, 'test/fixtures/tls/localhost.key')

export const startNginx: StartFront = async (t, servicePort, dashboardPort = 1, places = {}) => {
  const folder = temporaryFolder(t)
  const port = await freePort()
  const site = configured('deploy/nginx.conf', {
    '127.0.0.1:8080': `127.0.0.1:${servicePort}`,
    '127.0.0.1:8081': `127.0.0.1:${dashboardPort}`,
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    '/etc/ssl/certs/api.example.com.crt': CERTIFICATE,
    '/etc/ssl/private/api.example.com.key': KEY,
    '/etc/ssl/certs/listing.example.com.crt': CERTIFICATE,
    '/etc/ssl/private/listing.example.com.key': KEY,
    ...places,
  })
  const spools = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const main = `
    daemon off;
    user root;
    pid ${folder}/pid;
    error_log ${folder}/error.log;
    events { worker_connections 4096; }
    http {
      log_format forwarded $upstream_status;
      access_log ${folder}/access.log forwarded;
      ${spools.map((spool) => `${spool}_temp_path ${folder}/${spool};`).join('\n')}
      ${site}
    }`
  writeFileSync(join(folder, 'nginx.conf'), main)
  const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log']
  const child = await start(t, port, '/usr/sbin/nginx', args)
  return {
    port,
    isItsOwn: () => false,
    async end() {
      await endDaemon(child, 'SIGQUIT')
      const lines = readFileSync(join(folder, 'access.log'), 'utf8').split('\n')
      // A retried request has one status per try.
      return lines.join(',').match(/[0-9]+/g)?.length ?? 0
    },
  }
}

export const startHaproxy: StartFront = async (t, servicePort, dashboardPort = 1, places = {}) => {
  const folder = temporaryFolder(t)
  const port = await freePort()
  const pem = join(folder, 'certificate.pem')
  writeFileSync(pem, readFileSync(CERTIFICATE, 'utf8') + readFileSync(KEY, 'utf8'))
  const config = configured('deploy/haproxy.cfg', {
    '127.0.0.1:8080': `127.0.0.1:${servicePort}`,
    '127.0.0.1:8081': `127.0.0.1:${dashboardPort}`,
    'bind :443': `bind 127.0.0.1:${port}`,
    '/etc/haproxy/api.example.com.pem': pem,
    '/etc/haproxy/listing.example.com.pem': pem,
    'mode http': 'mode http\n  log-format "to %s %Tr"',
    // One thread, because a thread that waits too long for the log drops its line.
    'log stdout format raw local0': 'log stdout format raw local0\n  nbthread 1',
    ...places,
  })
  writeFileSync(join(folder, 'haproxy.cfg'), config)
  // To a file, because it drops lines that a pipe cannot take at once.
  const log = join(folder, 'log')
  const args = ['-db', '-f', join(folder, 'haproxy.cfg')]
  const child = await start(t, port, '/usr/sbin/haproxy', args, openSync(log, 'w'))
  return {
    port,
    // It answers unreadable requests with a page, whatever its configuration.
    isItsOwn: ({ status, headers }) =>
      [400, 408, 422, 501].includes(status) && headers['content-type'] === 'text/html',
    async end() {
      await endDaemon(child, 'SIGUSR1')
      // A line without response time: it gave up before it had sent any of the request.
      return readFileSync(log, 'utf8').match(/^to one [0-9]+$/gm)?.length ?? 0
    },
  }
}

/** The shipped configuration with these texts replaced. Each must occur in it. */
export function configured(path: string, places: Record<string, string>): string {
  let config = readFileSync(join(ROOT, path), 'utf8')
  for (const [place, value] of Object.entries(places)) {
    const parts = config.split(place)
    if (parts.length === 1) throw new Error(`${path} has no ${place}`)
    config = parts.join(value)
  }
  return config
}

export async function start(
  t: TestContext,
  port: number,
  command: string,
  args: string[],
  output: number | 'inherit' = 'inherit',
  env = process.env,
): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ['ignore', output, output], env })
  t.after(() => endDaemon(child, 'SIGTERM'))
  await untilListening(child, port)
  return child
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
