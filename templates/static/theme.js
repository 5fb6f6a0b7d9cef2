// Before anything is drawn: the reader's choice of colours, and that scripts run.
document.documentElement.classList.add('has-script');
const theme = localStorage.getItem('theme');
if (theme) document.documentElement.dataset.theme = theme;
