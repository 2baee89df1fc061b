// Pages that are opened as files have no search box: say what it needs.
if (location.protocol === "file:") {
  const note = document.createElement("p");
  note.className = "local";
  note.textContent = "To search: python3 -m http.server --directory build/site";
  document.querySelector(".md-header__inner").append(note);
}
