import { render } from 'preact';
import { App } from './app.tsx';
import './style.css';
import './texts/texts.css';

render(<App />, document.getElementById('app')!);
