import { isLoopback } from '../http/client-address.ts'
import type { PeerRule } from '../http/admission/peer-limit.ts'
import {
  type Handler,
  type HandlerListener,
  listenForHandler,
  MANAGEMENT_CONNECTIONS_MAX,
} from '../web/listen.ts'
import { MISDIRECTED, refuseBytes, send, UNAVAILABLE } from './answers.ts'
import { openTokens, type Tokens } from './tokens.ts'

export interface ManagementListening {
  host: string
  /** 0 picks a free port. */
  port: number
  tokensFile: string
  peers: PeerRule
  load(tokens: Tokens): Promise<Handler>
  onFault(fault: unknown): void
  warn(message: string): void
}

/**
 * Listens for the operator's site. Throws UnusableTokens if the file of tokens is wrong. The first
 * request loads the routes.
 */
export async function listenForManagement({
  load,
  tokensFile,
  warn,
  ...listening
}: ManagementListening): Promise<HandlerListener> {
  const tokens = openTokens(tokensFile, listening.onFault)
  const listener = await listenForHandler({
    ...listening,
    load: () => load(tokens),
    reusePort: false,
    names: [],
    connectionsMax: MANAGEMENT_CONNECTIONS_MAX,
    sayMisdirected: (outgoing) => send(outgoing, MISDIRECTED),
    sayUnavailable: (outgoing) => send(outgoing, UNAVAILABLE),
    onClientError: refuseBytes,
  })
  if (!isLoopback(listener.host))
    warn(
      `MANAGEMENT_HOST is ${listening.host}, so other machines reach the management API, and its ` +
        'tokens cross the network as they are. Put a proxy with TLS in front of it',
    )
  return listener
}
