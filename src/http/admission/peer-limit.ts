import type { Socket } from 'node:net'

/** How the connections of a listener count. */
export interface PeerRule {
  /** The peer to which a socket's address counts. Null for one without a limit. */
  readPeer(socketAddress: string): string | null
  /** The listener closed a connection of a peer that has its share. */
  onRefused(peer: string): void
}

/** The connections that one peer may have: a quarter of those of the listener. */
export function shareOf(connectionsMax: number): number {
  return Math.ceil(connectionsMax / 4)
}

/**
 * Bounds the connections of each peer, so that one client can't take those of all others. The
 * returned function counts a new connection. If the peer has its share, it closes the connection
 * and returns false.
 */
export function createPeerLimit(
  connectionsMax: number,
  { readPeer, onRefused }: PeerRule,
): (socket: Socket) => boolean {
  const shareMax = shareOf(connectionsMax)
  const open = new Map<string, number>()
  return (socket) => {
    const peer = readPeer(socket.remoteAddress ?? '')
    if (peer === null) return true
    const count = open.get(peer) ?? 0
    if (count >= shareMax) {
      socket.destroy()
      onRefused(peer)
      return false
    }
    open.set(peer, count + 1)
    socket.once('close', () => {
      const left = (open.get(peer) ?? 1) - 1
      if (left > 0) open.set(peer, left)
      else open.delete(peer)
    })
    return true
  }
}
