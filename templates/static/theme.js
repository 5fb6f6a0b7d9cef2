// Runs before anything is drawn: applies the reader's choice of colours, and marks that scripts are enabled.
document.documentElement.classList.add('has-script');
const theme = localStorage.getItem('theme');
if (theme) document.documentElement.dataset.theme = theme;
