// Perfetto's own trace processor (its WASM build), as a process: requests of its protocol come in on
// stdin, answers go out on stdout. usage: node trace_processor.js FOLDER_OF_ENGINE_BUNDLE
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const folder = process.argv[2];

// The engine is made for a browser's worker: this is all of a worker that it needs.
class Request {
  open(method, url) {
    this.url = url;
  }
  send() {
    const bytes = fs.readFileSync(path.join(folder, path.basename(this.url)));
    this.status = 200;
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    this.onload?.();
  }
}
const worker = { location: { href: '' } };
const port = { postMessage: (bytes) => fs.writeSync(1, bytes) };

const code = fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8');
const names = ['self', 'WorkerGlobalScope', 'XMLHttpRequest', 'console', 'process', 'window'];
const quiet = { log: console.error, warn: console.error, error: console.error };
new Function(...names, code)(worker, Object, Request, quiet, undefined, undefined);
worker.onmessage({ data: port });

// only when the engine has begun, some turns of the event loop later
setTimeout(() => {
  process.stdin.on('data', (bytes) => port.onmessage({ data: new Uint8Array(bytes) }));
}, 0);
