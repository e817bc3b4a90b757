import { readFileSync } from 'node:fs'
import { CONNECTIONS_MAX } from '../../service.ts'

/** For 100 connections to the health checks, and for the files that the service itself opens. */
const FILES_BESIDE = 150

/**
 * A warning if this process may open fewer files than the service needs. Null if the limit suffices
 * or is unknown. Node.js has already raised the soft limit to the hard limit.
 */
export function complaintAboutOpenFiles(): string | null {
  const limit = readLimit()
  const { api, dashboard } = CONNECTIONS_MAX
  const needed = api + dashboard + FILES_BESIDE
  if (limit === null || limit >= needed) return null
  return (
    `this process may open ${limit} files and needs up to ${needed}: ${api} connections to the ` +
    `API, ${dashboard} to the dashboard, and ${FILES_BESIDE} others. ` +
    'At the limit, the service drops new connections. ' +
    `Set LimitNOFILE=${needed} in the systemd unit, or run \`ulimit -n ${needed}\` before you ` +
    'start the service'
  )
}

/** The soft limit; null if it is unlimited or the system has no `/proc`. */
function readLimit(): number | null {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}
