const babelHelpers = (() => {
  // Applies legacy decorators, last one first, each seeing what the one before it made.
  function decorate(decorators, target, key, descriptor) {
    const onClass = arguments.length < 3;
    let result = onClass ? target
      : descriptor === null ? Object.getOwnPropertyDescriptor(target, key)
      : descriptor;
    for (const decorator of [...decorators].reverse()) {
      result = (onClass ? decorator(result) : decorator(target, key, result)) || result;
    }
    if (!onClass && result) Object.defineProperty(target, key, result);
    return result;
  }

  const decorateParam = (index, decorator) => (target, key) => decorator(target, key, index);

  function suppressed(error, earlier) {
    if (typeof SuppressedError === "function") return new SuppressedError(error, earlier);
    const both = new Error("An error was suppressed during disposal");
    return Object.assign(both, { name: "SuppressedError", error, suppressed: earlier });
  }

  // One block with `using` in it: `u` and `a` register, `e` takes the block's error, `d` disposes.
  function usingCtx() {
    const noError = {};
    const resources = [];

    function register(isAsync, value) {
      if (value === null || value === undefined) {
        if (isAsync) resources.push({ isAsync });
        return value;
      }
      if (Object(value) !== value) throw new TypeError("using needs an object, null or undefined");
      let dispose = isAsync ? value[Symbol.asyncDispose] : undefined;
      const awaited = dispose !== undefined && dispose !== null;
      if (!awaited) dispose = value[Symbol.dispose];
      if (typeof dispose !== "function") throw new TypeError("the object is not disposable");
      resources.push({ value, dispose, isAsync, awaited });
      return value;
    }

    return {
      e: noError,
      u: (value) => register(false, value),
      a: (value) => register(true, value),
      d() {
        let error = this.e;
        const record = (thrown) => {
          error = error === noError ? thrown : suppressed(thrown, error);
        };
        const unwind = () => {
          while (resources.length > 0) {
            const { value, dispose, isAsync, awaited } = resources.pop();
            try {
              const returned = dispose?.call(value);
              if (isAsync) {
                const pending = Promise.resolve(awaited ? returned : undefined);
                return pending.catch(record).then(unwind);
              }
            } catch (thrown) {
              record(thrown);
            }
          }
          if (error !== noError) throw error;
        };
        return unwind();
      },
    };
  }

  return { decorate, decorateParam, usingCtx };
})();
