//! Running cells by whom they are for: started, frozen when idle, stopped, woken.
