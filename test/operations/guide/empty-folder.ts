import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { release } from '../../../scripts/release/release.ts'
import { freeFixedPort } from '../../fixtures/daemon/daemon.ts'
import { openTerminal, pathIn, type Terminal } from './terminal.ts'

/** The ports in the guide. */
const PORTS = [8080, 8081, 8082, 8443, 5432, 5433]
/** PostgreSQL refuses to run as root. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
/** What a network with a proxy of its own needs to install packages. */
const NETWORK = ['NODE_EXTRA_CA_CERTS', 'HTTP_PROXY', 'HTTPS_PROXY', 'npm_config_registry']

/** A terminal in a folder that has the files of a release and nothing else. */
export interface Walk {
  terminal: Terminal
  /** The guide's text, with ports that are free on this machine. */
  localized(text: string): string
}

/**
 * Prepares what the guide asks for before its first block: Node.js, Debian's programs on the PATH,
 * and a release in an empty folder of an unprivileged user. A Debian with another root folder
 * gets no Node.js.
 */
export async function prepareWalk(t: Pick<TestContext, 'after'>, root?: string): Promise<Walk> {
  // Programs may not be executable in the folder of other tests, which is in memory.
  const base = mkdtempSync(join(root ?? tmpdir(), 'server-listing-guide-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  chmodSync(base, 0o755)
  const [folder, scratch, programs] = ['walk', 'scratch', 'programs'].map((name) => {
    mkdirSync(join(base, name))
    return join(base, name)
  })
  // The unprivileged user may not be able to read the checkout.
  if (root === undefined) copyFileSync(process.execPath, join(programs!, 'node'))
  release(folder!)
  for (const path of [folder!, ...readdirSync(folder!).map((name) => join(folder!, name))])
    if (USER.uid !== undefined) chownSync(path, USER.uid, USER.gid)
  const terminal = openTerminal({
    folder: folder!,
    scratch: scratch!,
    env: {
      ...networkEnvironment(),
      HOME: pathIn(root, folder!),
      PATH: `${pathIn(root, programs!)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
      LANG: 'C.UTF-8',
    },
    user: USER,
    ...(root !== undefined && { root }),
  })
  t.after(async () => {
    await terminal.close()
    endClusters(folder!)
  })
  const ports = await freePorts()
  const found = new RegExp(`\\b(?:${PORTS.join('|')})\\b`, 'g')
  return { terminal, localized: (text) => text.replace(found, (port) => ports.get(port)!) }
}

/** What programs need to reach the network of this machine. */
export function networkEnvironment(): Record<string, string> {
  return Object.fromEntries(
    NETWORK.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  )
}

/** PostgreSQL leaves the terminal's group of processes. */
function endClusters(folder: string): void {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('postmaster.pid')) continue
    try {
      const [pid] = readFileSync(join(folder, path), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGQUIT')
    } catch (error) {
      // A server that ends by itself meanwhile removes its file.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code!)) throw error
    }
  }
}

async function freePorts(): Promise<Map<string, string>> {
  const free = new Set<number>()
  while (free.size < PORTS.length) free.add(await freeFixedPort())
  return new Map([...free].map((port, index) => [String(PORTS[index]), String(port)]))
}
