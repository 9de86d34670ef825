/** Where the study is: its name, and the path before all addresses of the server. */

const place = /^(.*)\/study\/([^/]+)/.exec(location.pathname);

export const prefix = place?.[1] ?? "";
export const study = place?.[2] === undefined ? null : decodeURIComponent(place[2]);
