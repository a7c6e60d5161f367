console.log("orders")
