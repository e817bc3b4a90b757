/** A server process. Its start time distinguishes it from a later one with the same id. */
export interface Backend {
  pid: number
  startedAt: string
}

/** How long the server waits for each backend to end, in milliseconds. */
const END_MS = 100
/** The time until the remaining backends are asked to end again, in milliseconds. */
const AGAIN_MS = 1_000

/** SQL for a session's own backend, whatever its search path. */
export const OWN_BACKEND = `
  SELECT pid, extract(epoch FROM backend_start)::text AS "startedAt"
  FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid())
`

/**
 * Ends the backends that still run and returns those that remain. Another process may have an old
 * id.
 */
const END = `
  SELECT abandoned.* FROM unnest($1::int[], $2::text[]) AS abandoned (pid, "startedAt")
  CROSS JOIN LATERAL pg_stat_get_activity(abandoned.pid) AS activity
  WHERE CASE WHEN extract(epoch FROM activity.backend_start)::text = "startedAt"
    THEN NOT pg_terminate_backend(abandoned.pid, ${END_MS}) END
`

/**
 * Backends whose connections were given up. Closing a connection does not end its statement: the
 * server notices when it writes the result. Until then a commit that waits for a standby or a disk
 * keeps its locks.
 */
export interface AbandonedBackends {
  count(): number
  /** Starts to end the backend, and repeats that until it is gone. */
  add(backend: Backend): void
  /** Ends the backends that can be ended. Rejects if the server can't be asked. */
  end(): Promise<void>
  /** Tries once more, or waits for the try under way, and leaves the rest alone. */
  close(): Promise<void>
}

/** `ask` runs a query on a connection that is reserved for this. */
export function createAbandonedBackends(
  ask: (text: string, values: unknown[]) => Promise<Backend[]>,
): AbandonedBackends {
  const left = new Map<string, Backend>()
  let ending: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function endAll(): Promise<void> {
    const asked = [...left.values()]
    const pids = asked.map(({ pid }) => pid)
    const startedAt = asked.map((backend) => backend.startedAt)
    const remaining = new Set((await ask(END, [pids, startedAt])).map(nameOf))
    for (const backend of asked) if (!remaining.has(nameOf(backend))) left.delete(nameOf(backend))
  }

  function end(): Promise<void> {
    ending ??= endAll().finally(() => {
      ending = null
      clearTimeout(timer)
      if (left.size > 0 && !isClosed) timer = setTimeout(tryToEnd, AGAIN_MS).unref()
    })
    return ending
  }

  function tryToEnd(): void {
    end().catch(() => {})
  }

  return {
    count: () => left.size,
    add(backend) {
      left.set(nameOf(backend), backend)
      if (!isClosed) tryToEnd()
    },
    end,
    async close() {
      isClosed = true
      if (left.size > 0) await end().catch(() => {})
      clearTimeout(timer)
    },
  }
}

function nameOf({ pid, startedAt }: Backend): string {
  return `${pid} ${startedAt}`
}
