import type { AddressInfo, Server } from 'node:net'

/**
 * Starts listening and returns the address in use; port 0 stands for any free port. With
 * `reusePort`, other processes of the same user can listen on the port as well, and the system
 * spreads connections over them. Rejects if it cannot listen.
 */
export async function bind(
  server: Server,
  host: string,
  port: number,
  reusePort: boolean,
): Promise<{ host: string; port: number }> {
  await new Promise<void>((resolve, reject) => {
    // The handler stays: a connection that can't be accepted later must not end the process.
    server.on('error', reject)
    server.listen({ host, port, reusePort }, resolve)
  })
  const address = server.address() as AddressInfo
  return { host: address.address, port: address.port }
}
