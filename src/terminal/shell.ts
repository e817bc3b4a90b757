/** What a command gets from the shell that starts it. In the program, that is `process`. */
export interface Shell {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  /** The environment. `--env-file` adds to it. */
  readonly env: Record<string, string | undefined>
}

type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
