/** Modules that are no TypeScript. */
declare module "*.css"
