const { WebSocket } = require('/clients/node_modules/ws');

const attempt = (target) =>
  new Promise((resolve) => {
    const begun = Date.now();
    const socket = new WebSocket(target.replace('https:', 'wss:'));
    socket.on('message', (text) => {
      resolve(`reached ${text}`);
      socket.terminate();
    });
    socket.on('error', () => resolve(Date.now() - begun < 3000 ? 'refused' : 'late'));
  });

(async () => {
  for (const target of process.env.TARGETS.split(' ')) console.log(await attempt(target));
})();
