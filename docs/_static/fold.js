// Each part of the sidebar folds; the part of the current page is open.
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll(".sidebar-tree p.caption")) {
    const part = document.createElement("details");
    const title = document.createElement("summary");
    const list = caption.nextElementSibling;
    caption.replaceWith(part);
    title.append(caption);
    part.append(title, list);
    part.open = list.querySelector(".current") !== null || list.matches(".current");
  }
});
