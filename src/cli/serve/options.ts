import type { Command } from 'commander'
import type { ConfigOption } from '../../config/config.ts'

/** Settings of the command line, which replace variables. */
export interface SettingOptions {
  host?: string
  port?: string
  database?: string
}

export function addSettingOptions(command: Command): void {
  command
    .option('--host <host>', 'the address to listen on, instead of HOST')
    .option('--port <port>', 'the port of the API, instead of PORT; 0 takes a free one')
    .option('--database <url>', 'sqlite:PATH or postgres://…, instead of DATABASE_URL')
}

export function settingsOf({ host, port, database }: SettingOptions): ConfigOption[] {
  const settings = [
    { variable: 'HOST', flag: '--host', value: host },
    { variable: 'PORT', flag: '--port', value: port },
    { variable: 'DATABASE_URL', flag: '--database', value: database },
  ]
  return settings.filter((one): one is ConfigOption => one.value !== undefined)
}
