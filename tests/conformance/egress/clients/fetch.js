(async () => {
  for (const target of process.env.TARGETS.split(' ')) {
    const begun = Date.now();
    try {
      console.log('reached', await (await fetch(target)).text());
    } catch {
      console.log(Date.now() - begun < 3000 ? 'refused' : 'late');
    }
  }
})();
