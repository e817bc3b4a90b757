import { isBuiltin } from 'node:module'
import type { Plugin } from 'rolldown'

const NAMESPACE = '\0builtin:'

/**
 * Takes the modules of Node.js from `process.getBuiltinModule`. An import statement evaluates every
 * export of such a module, and some of them load many more modules.
 */
export function builtinModules(): Plugin {
  return {
    name: 'builtin-modules',
    resolveId(id, _importer, { kind }) {
      if (!isBuiltin(id)) return null
      // Every export of a dynamic import counts as used, so it stays an import of its own.
      if (kind === 'dynamic-import') return { id, external: true }
      return NAMESPACE + id.replace(/^node:/, '')
    },
    load: (id) => (id.startsWith(NAMESPACE) ? moduleOf(id.slice(NAMESPACE.length)) : null),
  }
}

/** A module whose exports are read from Node.js only if an importer names them. */
function moduleOf(name: string): string {
  const builtin = `process.getBuiltinModule('node:${name}')`
  // Loaded when it is called: commander imports it for subcommands that are programs of their own,
  // and we have none. Only backups on PostgreSQL and `conform` start a program.
  if (name === 'child_process')
    return `export const spawn = (...args) => ${builtin}.spawn(...args)\nexport default { spawn }`
  const names = Object.keys(process.getBuiltinModule(`node:${name}`)!)
  return [
    `const $module = ${builtin}`,
    'const $get = (name) => $module[name]',
    'export default $module',
    ...names
      .filter((each) => each !== 'default')
      .map((each) => `export const ${each} = /* @__PURE__ */ $get('${each}')`),
  ].join('\n')
}
