/* Search for who opens the pages from a disk: browsers let such a page start no worker, so the search's script runs in a hidden frame.
   Its name keeps zensical from fetching the like from another host. */
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      const waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => setTimeout(() => this.onmessage && this.onmessage({ data }));
      this.postMessage = (data) => waiting.push(data);
      const script = inner.document.createElement("script");
      script.src = address;
      script.onload = () => {
        this.postMessage = (data) => setTimeout(() => inner.onmessage({ data }));
        waiting.forEach(this.postMessage);
      };
      script.onerror = () => this.onerror && this.onerror(new Event("error", { cancelable: true }));
      inner.document.body.append(script);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
