import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/** The name of a PostgreSQL program that comes with the client. */
type Tool = 'pg_dump' | 'pg_restore'

/** A program of PostgreSQL's client failed or is missing. The message is for the operator. */
export class ToolFailed extends Error {
  override name = 'ToolFailed'
}

/** Runs a program of PostgreSQL's client, found on the PATH. Throws ToolFailed. */
export async function runTool(
  tool: Tool,
  args: readonly string[],
  database?: string,
): Promise<void> {
  const { url, password } = database === undefined ? {} : libpqUrl(database)
  const child = spawn(tool, [...args, ...(url === undefined ? [] : [`--dbname=${url}`])], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Other users of the machine can read the arguments of a process, but not its environment.
    env: { ...process.env, ...(password === undefined ? {} : { PGPASSWORD: password }) },
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  try {
    const [code, stderr] = await Promise.all([ended, text(child.stderr)])
    if (code !== 0) throw new ToolFailed(`${tool} failed: ${sentenceOf(stderr)}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new ToolFailed(
      `there is no ${tool} on the PATH; install PostgreSQL's client, of the server's version or newer`,
    )
  }
}

/** The program's own words. Those of a version that does not fit name both versions. */
function sentenceOf(stderr: string): string {
  const lines = stderr.trim().split('\n')
  return lines.map((line) => line.replace(/^pg_(dump|restore): (error: |detail: )?/, '')).join('; ')
}

const CREDENTIALS = /^(postgres(?:ql)?:\/\/[^@/?#:]*)(?::([^@/?#]*))?@/i
const PASSWORD_PARAMETER = /([?&])password=([^&]*)(&|$)/

/** The URL without its password, for the primary of several hosts. */
export function libpqUrl(url: string): { url: string; password?: string } {
  const found = CREDENTIALS.exec(url)?.[2] ?? PASSWORD_PARAMETER.exec(url)?.[2]
  const bare = url
    .replace(CREDENTIALS, '$1@')
    .replace(PASSWORD_PARAMETER, (_, before: string, __, after: string) => after && before)
  const primary = /[?&]target_session_attrs=/.test(bare)
    ? bare
    : `${bare}${bare.includes('?') ? '&' : '?'}target_session_attrs=read-write`
  return found === undefined
    ? { url: primary }
    : { url: primary, password: decodeURIComponent(found) }
}
