import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { promisify } from 'node:util'

const run = promisify(execFile)

/*
 * The programs that read a file of variables and start the service, each as itself. None starts a
 * container or a unit: a shell prints its variables, Docker's command line sends them to a socket
 * of the test, and Compose prints its configuration.
 *
 * Not run: systemd itself and Compose 2. `EnvironmentFile=` and environment.d share the reader
 * `parse_env_file_internal` of systemd (src/basic/env-file.c), and a program of systemd reads
 * environment.d. Only that one expands `$`. Debian 12 has Compose 1. By the rules of Compose 2
 * (compose-go, dotenv/parser.go), each case that a test accepts has the same value.
 */

/** The variables of a file, or null if the program refuses it or does something else. */
export type EnvReader = (text: string, folder: string) => Promise<Map<string, string> | null>

export const ENV_READERS: Record<string, EnvReader> = {
  'a shell': (text, folder) => readWithShell('sh', text, folder),
  bash: (text, folder) => readWithShell('bash', text, folder),
  systemd: async (text, folder) => {
    const home = mkdtempSync(join(folder, 'home-'))
    mkdirSync(join(home, 'environment.d'))
    writeFileSync(join(home, 'environment.d/a.conf'), text)
    const env = { XDG_CONFIG_HOME: home, HOME: '/home/ada', SYSTEMD_LOG_LEVEL: 'warning' }
    const { stdout, stderr } = spawnSync(ENVIRONMENT_D, { env, encoding: 'utf8' })
    if (stderr !== '') return null
    // It quotes values as a shell does. Other files of the machine add variables.
    const print = `${stdout}\nenv -0`
    const printed = execFileSync('env', ['-i', '/bin/sh', '-ac', print], { encoding: 'utf8' })
    return without(variablesOf(printed), /^(PATH|PWD|QT_\w+|SHLVL|_)$/)
  },
  'env_file of Compose': async (text, folder) =>
    readWithCompose(`env_file: [${fileIn(folder, text)}]`, [], folder),
  '.env of Compose': async (text, folder) => {
    const names = [...text.matchAll(/^[ \t]*(\w+)=/gm)].map(([, name]) => name)
    const environment = names.map((name) => `${name}: "\${${name}}"`)
    const options = ['--env-file', fileIn(folder, text)]
    return readWithCompose(`environment: {${environment.join()}}`, options, folder)
  },
  'docker run': readWithDocker,
}

const ENVIRONMENT_D =
  '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator'

function fileIn(folder: string, text: string): string {
  const file = join(mkdtempSync(join(folder, 'file-')), 'listing.env')
  writeFileSync(file, text)
  return file
}

async function readWithShell(shell: string, text: string, folder: string) {
  const commands = `set -a; . ${fileIn(folder, text)}; set +a; exec env -0`
  const env = { PATH: '/usr/bin:/bin', HOME: '/home/ada' }
  const { stdout, stderr } = spawnSync(shell, ['-c', commands], { env, encoding: 'utf8' })
  return stderr === '' ? without(variablesOf(stdout), /^(PATH|HOME|PWD|SHLVL|_)$/) : null
}

function variablesOf(printed: string): Map<string, string> {
  const lines = printed.split('\0').filter((line) => line !== '')
  return new Map(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]))
}

function without(variables: Map<string, string>, others: RegExp): Map<string, string> {
  return new Map([...variables].filter(([name]) => !others.test(name)))
}

async function readWithCompose(service: string, options: string[], folder: string) {
  const file = join(mkdtempSync(join(folder, 'compose-')), 'compose.yaml')
  writeFileSync(file, `version: "3"\nservices:\n  listing:\n    image: x\n    ${service}\n`)
  const args = ['--file', file, ...options, 'config']
  const env = { PATH: process.env.PATH, HOME: '/home/ada' }
  const { stdout } = await run('docker-compose', args, { env }).catch(() => ({ stdout: null }))
  if (stdout === null) return null
  const toJson =
    'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)["services"]["listing"]))'
  const json = execFileSync('python3', ['-c', toJson], { input: stdout, encoding: 'utf8' })
  const { environment = {} } = JSON.parse(json) as { environment?: Record<string, string | null> }
  // A compose file writes $$ for $.
  const values = Object.entries(environment).map(
    ([name, value]) => [name, (value ?? '').replaceAll('$$', '$')] as const,
  )
  return new Map(values)
}

/** What `docker run --env-file` asks the daemon to start. The socket of the test then refuses. */
async function readWithDocker(text: string, folder: string) {
  let sent: string[] | null = null
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await textOf(request)
    if (request.url?.includes('/containers/create')) sent = JSON.parse(body).Env ?? []
    response.writeHead(sent === null ? 200 : 500, { 'Api-Version': '1.41' }).end('{"message":"no"}')
  }
  const daemon = createServer((request, response) => void answer(request, response))
  const socket = join(mkdtempSync(join(folder, 'docker-')), 's')
  daemon.listen(socket)
  await once(daemon, 'listening')
  const args = ['--host', `unix://${socket}`, 'run', '--env-file', fileIn(folder, text), 'image']
  const env = { PATH: process.env.PATH, HOME: folder }
  await new Promise((resolve) => execFile('docker', args, { env }, resolve))
  daemon.close()
  daemon.closeAllConnections()
  if (sent === null) return null
  const variables = variablesOf((sent as string[]).join('\0'))
  // It sends a name twice, and another program decides.
  return variables.size === (sent as string[]).length ? variables : null
}
