//! Names of tools and addresses of resources, the same whichever other servers there are.
