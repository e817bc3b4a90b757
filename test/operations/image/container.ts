import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { BuiltImage } from './built-image.ts'

/** A running container. */
export interface Container {
  /** The process id of its first process, on this machine. */
  pid: number
  log(): string
  /** Runs a program in the container, as `docker exec` does. Returns its standard output. */
  exec(...command: string[]): Promise<string>
  /** Sends the signal of the image to the first process. Returns its exit code. */
  stop(): Promise<number | null>
}

/**
 * Prepares a container like a runtime: processes, mounts and network of its own, and a file system
 * that is read-only but for the volume. `exec` leaves the program of the image as process 1.
 */
const RUNTIME = `
  root=$1 volume=$2 data=$3 user=$4; shift 4
  ip link set lo up
  mount --bind "$root" "$root"
  mount --bind "$volume" "$root$data"
  mount -t proc proc "$root/proc"
  mount -t tmpfs tmpfs "$root/dev"
  mknod -m 666 "$root/dev/null" c 1 3
  mknod -m 666 "$root/dev/urandom" c 1 9
  mount -o remount,bind,ro "$root"
  exec setpriv --no-new-privs chroot --userspec="$user" --groups= "$root" "$@"
`

export async function runContainer(
  t: TestContext,
  { config, root }: BuiltImage,
  volume: string,
): Promise<Container> {
  const { User, Env, WorkingDir, Entrypoint, Cmd, Volumes, StopSignal } = config
  const [data = ''] = Object.keys(Volumes)
  const environment = ['env', '--ignore-environment', `--chdir=${WorkingDir}`, ...Env]
  const program = [...environment, ...Entrypoint, ...Cmd]
  const namespaces = ['--mount', '--pid', '--net', '--fork']
  const runtime = ['sh', '-eu', '-c', RUNTIME, 'runtime', root, volume, data, User, ...program]
  const unshare = spawn('unshare', [...namespaces, ...runtime], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const stream of [unshare.stdout, unshare.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (log += chunk))
  const ended = once(unshare, 'close')
  while (!log.includes('listening on')) {
    if (unshare.exitCode !== null) throw new Error(`the container has ended: ${log}`)
    await Promise.race([once(unshare.stdout, 'data'), ended])
  }
  const pid = firstChildOf(unshare)
  t.after(() => unshare.exitCode ?? process.kill(pid, 'SIGKILL'))
  const [uid, gid] = User.split(':')
  const entered = ['--mount', '--pid', '--net', '--root', `--setuid=${uid}`, `--setgid=${gid}`]
  return {
    pid,
    log: () => log,
    async exec(...command) {
      const args = ['--target', `${pid}`, ...entered, ...environment, ...command]
      return (await promisify(execFile)('nsenter', args)).stdout.trim()
    },
    async stop() {
      process.kill(pid, StopSignal)
      const [code] = await ended
      return code
    },
  }
}

function firstChildOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
}
