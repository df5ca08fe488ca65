//! The Merkle tree over the rows (RFC 6962, section 2.1), of which only the roots of its whole subtrees are kept: as many
//! as its size has bits set.

use model::digest::Digest;
use sha2::{Digest as _, Sha256};

/// A tree that only grows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tree {
    size: u64,
    /// Roots of whole subtrees, the largest first.
    nodes: Vec<[u8; 32]>,
}

impl Tree {
    /// One whose nodes were written down.
    pub(super) fn read(size: u64, nodes: &str) -> Option<Self> {
        let nodes: Option<Vec<[u8; 32]>> = nodes
            .split_ascii_whitespace()
            .map(|text| Digest::from_hex(text).ok().map(|digest| *digest.bytes()))
            .collect();
        nodes
            .filter(|nodes| u32::try_from(nodes.len()) == Ok(size.count_ones()))
            .map(|nodes| Self { size, nodes })
    }

    /// Its nodes, to be read again.
    pub(super) fn nodes(&self) -> String {
        let all: Vec<String> = self.nodes.iter().map(|node| Digest::new(*node).hex()).collect();
        all.join(" ")
    }

    /// How many leaves it has.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Adds the hash of a row.
    pub(super) fn push(&mut self, hash: &Digest) {
        let mut node: [u8; 32] = Sha256::new().chain_update([0]).chain_update(hash.bytes()).finalize().into();
        let mut rest = self.size;
        while rest & 1 == 1
            && let Some(left) = self.nodes.pop()
        {
            node = parent(&left, &node);
            rest >>= 1;
        }
        self.nodes.push(node);
        self.size += 1;
    }

    /// Its root.
    pub(super) fn root(&self) -> Digest {
        let mut from_right = self.nodes.iter().rev();
        let Some(last) = from_right.next() else { return Digest::of(b"") };
        Digest::new(from_right.fold(*last, |right, left| parent(left, &right)))
    }
}

fn parent(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

#[cfg(test)]
mod tests {
    use ct_merkle::mem_backed_tree::MemoryBackedTree;

    use super::*;

    #[test]
    fn roots_are_those_of_a_tree_that_keeps_everything() {
        let mut whole = MemoryBackedTree::<sha2_11::Sha256, [u8; 32]>::new();
        let mut ours = Tree::default();
        for n in 0..300_u64 {
            assert_eq!(ours.root().bytes().as_slice(), whole.root().as_bytes().as_slice(), "{n}");
            assert_eq!(Tree::read(ours.size(), &ours.nodes()), Some(ours.clone()), "{n}");
            let hash = Digest::of(&n.to_be_bytes());
            ours.push(&hash);
            whole.push(*hash.bytes());
        }
        assert_eq!(Tree::read(3, &Digest::of(b"").hex()), None);
    }
}
